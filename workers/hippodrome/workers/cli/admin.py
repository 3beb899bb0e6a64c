"""`hippodrome doctor`, `db`, `account`, `token`: for the administrator of an installation.

Accounts and tokens are made in the database of this installation, which only its administrator can write, unless --server
names another, whose administrator's token is then needed.
"""

from __future__ import annotations

import click

from hippodrome.workers.cli.connect import Connect, source_options
from hippodrome.workers.cli.doctor import Finding, examine
from hippodrome.workers.cli.output import Column, emit, json_option, say, table
from hippodrome.workers.cli.report import FAILED


@click.command()
@json_option
def doctor(as_json: bool) -> int:
    """Check Python, packages, database, broker and service. Exit code 1 if there is a problem."""
    findings = examine()
    if as_json:
        emit("doctor", {"findings": findings})
    else:
        click.echo("\n".join(_lines(findings)))
    return FAILED if any(finding.state == "problem" for finding in findings) else 0


@click.command()
@json_option
def upgrade(as_json: bool) -> None:
    """Bring the tables of the database up to date; makes them when there are none. Safe to run at any time."""
    from hippodrome.ladder.db import open_database
    from hippodrome.ladder.db import upgrade as upgrade_database
    from hippodrome.ladder.settings import Settings

    url = Settings.load().database_url
    upgrade_database(url)
    shown = open_database(url).shown
    if as_json:
        emit("db-upgrade", {"database": shown})
    else:
        click.echo(f"{shown}: up to date")
        say("next: hippodrome up")


@click.command()
@click.argument("name")
@click.option("--admin", is_flag=True, help="It may create accounts and cancel others' tournaments.")
@source_options
@json_option
def create_account(connect: Connect, name: str, admin: bool, as_json: bool) -> None:
    """Create the account NAME with its first token; the secret is printed once."""
    account, secret = connect.administration().create_account(name, admin=admin)
    if as_json:
        emit("account-create", {"account": account, "secret": secret})
        return
    click.echo(secret)
    say(f"{account.name} is made; above is the secret of its token, shown this once\nnext: export HIPPODROME_TOKEN=SECRET")


@click.command()
@source_options
@json_option
def list_accounts(connect: Connect, as_json: bool) -> None:
    """List the accounts of this installation."""
    found = connect.administration().accounts()
    if as_json:
        emit("accounts", {"accounts": found})
    else:
        rows = [(a.name.removeprefix("accounts/"), "yes" if a.admin else "no") for a in found]
        click.echo(table((Column("account"), Column("administrator")), rows) if rows else "no accounts yet")
        say("next: hippodrome token create ACCOUNT")


@click.command()
@click.argument("account")
@click.option("--label", default="", help="What it is for.")
@source_options
@json_option
def create_token(connect: Connect, account: str, label: str, as_json: bool) -> None:
    """Create a token for ACCOUNT; its secret is printed once."""
    token, secret = connect.administration().create_token(account, label=label)
    if as_json:
        emit("token-create", {"token": token, "secret": secret})
        return
    click.echo(secret)
    say(f"{token.name} is made; above is its secret, shown this once\nnext: export HIPPODROME_TOKEN=SECRET")


@click.command()
@click.argument("name")
@source_options
@json_option
def revoke_token(connect: Connect, name: str, as_json: bool) -> None:
    """Make the token NAME (accounts/ada/tokens/4) useless from now on."""
    revoked = connect.administration().revoke_token(name)
    if as_json:
        emit("token-revoke", {"token": revoked})
    else:
        click.echo(f"{revoked.name} is revoked")


def _lines(findings: list[Finding]) -> list[str]:
    colours = {"ok": "green", "problem": "red", "skipped": "yellow"}
    lines = []
    for finding in findings:
        lines.append(f"{finding.name:<10} {click.style(f'{finding.state:<8}', fg=colours[finding.state])} {finding.text}")
        lines += [f"{'':<19} fix: {finding.fix}"] if finding.fix else []
    return lines
