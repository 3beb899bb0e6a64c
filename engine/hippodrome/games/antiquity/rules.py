"""The rules. The index names every rule of the rulebook and every ruling with the function that plays it; the
phase table below says which moves a phase offers and which steps follow each.

| Section        | Rule                                                        | Function                |
|----------------|-------------------------------------------------------------|-------------------------|
| §Setup         | Cards, colours and historians in play                       | state.setting_of        |
| §Setup         | Markers on the leftmost space, counters on 0                | state.AntiquityState.__init__ |
| §Setup         | Shuffle, deal five to each seat, three face up              | setup.deal              |
| §1             | The first player is chosen at random                        | setup.deal              |
| §1             | The seat chooses a Monument turn or a Story turn            | turn.turn_moves         |
| §1             | Three actions, in any order, the same one repeatedly        | turn.spend_action       |
| §1             | The turn passes clockwise                                   | turn.pass_turn          |
| §1             | At the end of the turn the face-up cards are replenished    | turn.refill             |
| §1             | A fourth action for two cards of the same symbol            | actions.grant_action    |
| §1             | Two cards of the same symbol pay for it                     | actions.pairs           |
| §1             | Cards that pay for it are removed from the game             | actions.remove_card     |
| §1a            | Draw the top card of the deck                               | actions.may_draw        |
| §1a            | Draw the top card of the deck                               | actions.draw_top        |
| §1a            | Take a face-up card, which leaves a gap                     | actions.may_take        |
| §1a            | Take a face-up card, which leaves a gap                     | actions.take_face_up    |
| §1b            | Two cards for the first builder, three for the second       | actions.buildable       |
| §1b            | The monument becomes less available                         | actions.start_building  |
| §1b            | Cards are laid from the bottom up and stay in that order    | actions.lay_card        |
| §1b            | At least the minimum, more at will                          | actions.may_stop        |
| §1c            | Add cards to an own monument, any number for one action     | actions.start_improving |
| §1c            | An own monument, a card of it in the hand                   | actions.may_improve     |
| §1d            | Two cards of the same symbol                                | actions.pairs           |
| §1d            | Two cards of one symbol score the display's cards of it     | actions.score_points    |
| §1d            | The two cards are removed from the game                     | actions.remove_card     |
| §2             | A story needs a historian and a page                        | story.may_write         |
| §2             | The top card of every pile of two or more of the opponents  | story.collect_pages     |
| §2             | The historian is placed on the story track                  | story.place_historian   |
| §2             | Each page moves a marker                                    | story.move_markers      |
| §2             | A marker on the last space pays the builders                | story.pay_builders      |
| §2             | A story is the whole turn, nothing can be bought            | turn.pass_turn          |
| §End           | The game ends when the face-up cards cannot be replenished  | turn.end_turn           |
| §VP monuments  | Values by marker for sole, primary and secondary builder    | scoring.monument_points |
| §VP monuments  | Primary builder: most cards, then the highest card          | scoring.builders        |
| §VP stories    | Pages written                                               | scoring.story_points    |
| §VP stories    | Bonus for the three longest stories                         | scoring.story_bonus     |
| §VP stories    | Penalty for unused historians                               | scoring.unused_points   |
| §Victory       | Most VP; ties by monuments, then stories                    | scoring.colour_rank     |
| §Victory       | Places                                                      | scoring.outcome         |
| §Two-player    | Two colours each, one monument left out                     | state.setting_of        |
| §Two-player    | A move serves the colour it names                           | actions.serves          |
| §Two-player    | Pages come from the own other colour too                    | story.collect_pages     |
| §Two-player    | The lower score counts                                      | scoring.pair_rank       |
| §Power         | Acquire with the majority, from the bank or a player        | power.may_acquire       |
| §Power         | Acquiring brings 2 VP                                       | power.acquire           |
| §Power         | Naute: exchange a card, once per turn                       | power.may_swap          |
| §Power         | Naute: exchange a card, once per turn                       | power.use_naute         |
| §Power         | Naute: exchange a card, once per turn                       | power.give_card         |
| §Power         | Naute: exchange a card, once per turn                       | power.put_given         |
| §Power         | Scribe: new order when improving                            | power.use_scribe        |
| §Power         | Scribe: new order when improving                            | power.place_card        |
| §Power         | Hero: a card for 1 VP, once per turn                        | power.pay_hero          |
| §Power         | 3 VP for each card in the final scoring                     | scoring.power_points    |
| ruling 1.5.1   | Actions are compulsory while one is legal                   | turn.goes_on            |
| ruling 1.5.2   | One fourth action a turn, at any moment                     | actions.may_buy         |
| ruling 1.5.3   | No draw from an empty deck                                  | actions.may_draw        |
| ruling 1.5.3   | No draw from an empty deck, with the hero neither           | power.may_hero_draw     |
| ruling 1.5.4   | The end at once, by a Monument turn only                    | turn.end_turn           |
| ruling 1.5.5   | Two historians for each of the four colours                 | state.setting_of        |
| ruling 1.5.6   | Both colours of a player may build a series                 | actions.buildable       |
| ruling 1.5.6   | Each action names the colour that it serves                 | actions.serves          |
| ruling 1.5.6   | A score counts the display of its colour only               | actions.score_points    |
| ruling 1.5.7   | Equal lower scores                                          | scoring.pair_rank       |
| ruling 1.5.8   | Two players: one series less, III marks ignored             | state.setting_of        |
| ruling 1.5.9   | Two piles of a series: two pages, two steps                 | story.move_markers      |
| ruling 1.5.10  | Last space, one builder: 2 VP                               | story.pay_builders      |
| ruling 1.5.11  | Last space: compared after all pages are taken              | story.pay_builders      |
| ruling 1.5.12  | Covered cards count between two builders                    | scoring.builders        |
| ruling 1.5.13  | Story cards are open                                        | view.public_stories     |
| ruling 1.5.14  | The player names the order of the cards                     | actions.lay_card        |
| ruling 1.5.15  | Bonus for equal spaces: the oldest first                    | scoring.story_bonus     |
| ruling 1.5.16  | Totals may be negative                                      | scoring.Score.total     |
| ruling 1.5.17  | Majority: strictly more than every other colour             | power.majority          |
| ruling 1.5.18  | No acquiring of an own power card                           | power.may_acquire       |
| ruling 1.5.19  | Usable at once, each once per turn                          | power.usable            |
| ruling 1.5.20  | The hero needs a VP                                         | power.may_hero          |
| ruling 1.5.20  | Deck or display, the gap waits                              | power.may_hero_draw     |
| ruling 1.5.20  | Deck or display, the gap waits                              | power.may_hero_take     |
| ruling 1.5.21  | Scribe: while improving only                                | power.may_reorder       |
| ruling 1.5.21  | Scribe: that pile only, old and new cards                   | power.may_place         |
| ruling 1.5.22  | Variant: a power card counts in the score action            | actions.score_points    |
| ruling 1.5.23  | Never a third builder                                       | actions.buildable       |
| ruling 1.5.24  | Final tie                                                   | scoring.colour_rank     |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from hippodrome.engine.game import Move
from hippodrome.games.antiquity import actions, moves, power, story, turn
from hippodrome.games.antiquity.moves import AntiquityMove
from hippodrome.games.antiquity.phases import (
    BUILDING,
    BUYING,
    BUYING_SECOND,
    GIVING,
    IMPROVING,
    OVER,
    PHASE_NAMES,
    REORDERING,
    SCORING,
    SCORING_SECOND,
    SWAPPING,
    TURN,
)

if TYPE_CHECKING:
    from hippodrome.games.antiquity.state import AntiquityState

Offer = Callable[["AntiquityState"], list[Move]]
Test = Callable[["AntiquityState", AntiquityMove], bool]
Step = Callable[["AntiquityState", AntiquityMove], None]
Row = tuple[Test, tuple[Step, ...]]


def may_acquire(s: AntiquityState, m: AntiquityMove) -> bool:
    colour = actions.serves(s, m)
    return colour >= 0 and s.actions > 0 and power.may_acquire(s, m.power, colour)


def never(s: AntiquityState, m: AntiquityMove) -> bool:
    return False


_FIRST_DISCARD: Final[dict[int, Row]] = {moves.DISCARD: (actions.may_discard_first, (actions.remove_card, actions.note_first))}
_SECOND_SCORED: Final = (actions.remove_card, actions.score_points, turn.settle)
_SECOND_PAID: Final = (actions.remove_card, actions.grant_action, turn.settle)

PHASES: Final[dict[int, tuple[Offer, dict[int, Row]]]] = {
    TURN: (turn.turn_moves, {
        moves.STORY: (story.may_write, (story.collect_pages, story.place_historian, story.move_markers, turn.pass_turn)),
        moves.DRAW: (actions.may_draw, (turn.spend_action, actions.draw_top, turn.settle)),
        moves.TAKE: (actions.may_take, (turn.spend_action, actions.take_face_up, turn.settle)),
        moves.BUILD: (actions.may_build, (turn.spend_action, actions.start_building)),
        moves.IMPROVE: (actions.may_improve, (turn.spend_action, actions.start_improving)),
        moves.SCORE: (actions.may_score, (turn.spend_action, actions.start_scoring)),
        moves.BUY: (actions.may_buy, (actions.start_buying,)),
        moves.END: (turn.may_end, (turn.end_turn,)),
        moves.ACQUIRE: (may_acquire, (turn.spend_action, power.acquire, turn.settle)),
        moves.SWAP: (power.may_swap, (power.use_naute,)),
        moves.HERO_DRAW: (power.may_hero_draw, (power.pay_hero, actions.draw_top, turn.settle)),
        moves.HERO_TAKE: (power.may_hero_take, (power.pay_hero, actions.take_face_up, turn.settle)),
    }),
    BUILDING: (actions.pile_moves, {
        moves.ADD: (actions.may_add, (actions.lay_card, actions.stop_if_bare, turn.settle)),
        moves.DONE: (actions.may_stop, (actions.close_pile, turn.settle)),
    }),
    IMPROVING: (actions.pile_moves, {
        moves.ADD: (actions.may_add, (actions.lay_card, actions.stop_if_bare, turn.settle)),
        moves.DONE: (actions.may_stop, (actions.close_pile, turn.settle)),
        moves.REORDER: (power.may_reorder, (power.use_scribe,)),
    }),
    REORDERING: (power.places, {moves.PLACE: (power.may_place, (power.place_card, actions.finish_order, turn.settle))}),
    SCORING: (actions.first_discards, _FIRST_DISCARD),
    SCORING_SECOND: (actions.second_discards, {moves.DISCARD: (actions.may_discard_second, _SECOND_SCORED)}),
    BUYING: (actions.first_discards, _FIRST_DISCARD),
    BUYING_SECOND: (actions.second_discards, {moves.DISCARD: (actions.may_discard_second, _SECOND_PAID)}),
    GIVING: (power.gives, {moves.GIVE: (power.may_give, (power.give_card,))}),
    SWAPPING: (power.swaps, {moves.TAKE: (power.may_swap_for, (actions.take_face_up, power.put_given, turn.settle))}),
    OVER: (lambda s: [], {}),
}  # fmt: skip
"""Phase -> (moves offered, {kind of move: (legal when, steps applied in order)})."""

_PHASES: Final = range(len(PHASE_NAMES))
_NONE: Final[Row] = (never, ())
OFFERS: Final = [PHASES[phase][0] for phase in _PHASES]
LEGAL: Final = [[PHASES[phase][1].get(kind, _NONE)[0] for kind in moves.KINDS] for phase in _PHASES]
STEPS: Final = [[PHASES[phase][1].get(kind, _NONE)[1] for kind in moves.KINDS] for phase in _PHASES]
