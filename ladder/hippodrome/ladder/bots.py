"""Bots and their versions."""

from __future__ import annotations

from typing import Final

from sqlmodel import Session, col, func, select

from hippodrome.engine.game import did_you_mean
from hippodrome.ladder import ids, requests
from hippodrome.ladder.errors import AlreadyExists, NotFound
from hippodrome.ladder.models import Account, Bot, BotVersion, add_unique, key

_LONGEST: Final = 2000


def create_bot(session: Session, *, account: Account, name: str, description: str = "", request_id: str = "") -> Bot:
    """A new bot of `account` with version 1; told again with the same `request_id`: that bot.

    Raises FieldError, AlreadyExists.
    """
    ids.check_name("bot_id", name)
    ids.check_text("description", description, _LONGEST)
    made = requests.recall(session, account, "bot", request_id)
    if made is not None:
        return get_bot(session, made, field="request_id")
    taken = AlreadyExists("bot_id", f"{name!r} is taken", "choose another name, or add a version to your bot")
    if session.exec(select(Bot).where(Bot.name == name)).first():
        raise taken
    bot = Bot(name=name, account_id=key(account), description=description)
    add_unique(session, bot, taken)
    session.add(BotVersion(bot_id=key(bot), number=1))
    requests.remember(session, account, "bot", request_id, name)
    session.flush()
    return bot


def ensure_bot(session: Session, *, account: Account, name: str, description: str = "") -> Bot:
    """The bot called `name`, made if it is not there. Raises AlreadyExists when it belongs to another account."""
    found = session.exec(select(Bot).where(Bot.name == name)).first()
    if found is None:
        return create_bot(session, account=account, name=name, description=description)
    if found.account_id != account.id:
        raise AlreadyExists("bot_id", f"{name!r} belongs to another account", "choose another name")
    return found


def create_version(session: Session, bot: Bot, *, description: str = "", request_id: str = "") -> BotVersion:
    """The next version of `bot`; told again with the same `request_id`: that version. Raises FieldError."""
    ids.check_text("description", description, _LONGEST)
    account = session.get_one(Account, bot.account_id)
    made = requests.recall(session, account, "version", request_id)
    if made is not None:
        return find_version(session, made, field="request_id")[1]
    session.exec(select(Bot).where(Bot.id == bot.id).with_for_update()).one()
    version = BotVersion(bot_id=key(bot), number=newest_version(session, bot).number + 1, description=description)
    session.add(version)
    requests.remember(session, account, "version", request_id, ids.version_name(bot.name, version.number))
    session.flush()
    return version


def get_bot(session: Session, name: str, *, field: str = "name") -> Bot:
    """The bot called `quokka` or `bots/quokka`. Raises NotFound with the nearest name."""
    wanted = ids.parse_name("bots", name, field)
    found = session.exec(select(Bot).where(Bot.name == wanted)).first()
    if found is None:
        raise _no_bot(session, wanted, field)
    return found


def list_bots(session: Session) -> list[Bot]:
    """All bots, by name. `queries.list_bots` pages."""
    return list(session.exec(select(Bot).order_by(col(Bot.name))))


def versions_of(session: Session, bot: Bot) -> list[BotVersion]:
    """The versions of `bot`, oldest first."""
    return list(session.exec(select(BotVersion).where(BotVersion.bot_id == key(bot)).order_by(col(BotVersion.number))))


def newest_version(session: Session, bot: Bot) -> BotVersion:
    """The version with the highest number."""
    newest = select(func.max(BotVersion.number)).where(BotVersion.bot_id == key(bot)).scalar_subquery()
    return session.exec(select(BotVersion).where(BotVersion.bot_id == key(bot), BotVersion.number == newest)).one()


def find_version(session: Session, text: str, *, field: str = "bot_version") -> tuple[Bot, BotVersion]:
    """The bot and version that `greedy`, `greedy@3`, `bots/greedy` or `bots/greedy/versions/3` names; without a number the
    newest. Raises FieldError, NotFound with the nearest name."""
    name, number = ids.parse_version(text, field)
    bot = get_bot(session, name, field=field)
    if number is None:
        return bot, newest_version(session, bot)
    found = session.exec(select(BotVersion).where(BotVersion.bot_id == key(bot), BotVersion.number == number)).first()
    if found is None:
        numbers = [str(version.number) for version in versions_of(session, bot)]
        raise NotFound(field, f"{name} has no version {number}", did_you_mean(str(number), numbers), tuple(numbers))
    return bot, found


def near(name: str, names: list[str], listing: str) -> str:
    """The hint of a fix: the nearest of `names`, and all of them or, when they are many, the command that lists them."""
    hint = did_you_mean(name, names)
    return hint if len(names) <= 20 else hint.partition("legal:")[0] + f"see `{listing}`"


def _no_bot(session: Session, name: str, field: str) -> NotFound:
    names = [bot.name for bot in list_bots(session)]
    return NotFound(field, f"no bot {name[:60]!r}", near(name[:60], names, "hippodrome bot list"), tuple(names[:50]))
