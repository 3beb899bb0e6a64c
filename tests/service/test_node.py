"""The node as a process: options, extras, its end with its parent."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys

import grpc
import pytest


async def test_health_and_reflection_are_served(table):
    health, health_pb2 = (importlib.import_module(f"grpc_health.v1.health_pb2{part}") for part in ("_grpc", ""))
    reflection = importlib.import_module("grpc_reflection.v1alpha.reflection_pb2_grpc")
    reflection_pb2 = importlib.import_module("grpc_reflection.v1alpha.reflection_pb2")
    async with grpc.aio.insecure_channel(table.node.address) as channel:
        answer = await health.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        call = reflection.ServerReflectionStub(channel).ServerReflectionInfo()
        await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        names = {service.name for service in (await call.read()).list_services_response.service}
        assert {"hippodrome.v1.PlayService", "hippodrome.v1.EngineService"} <= names
        call.cancel()


async def test_a_second_node_on_the_port_is_refused_in_one_line(node_process, tmp_path):
    node = node_process()
    address = await node.address()
    command = [sys.executable, "-m", "hippodrome.service", "--secret-file", str(tmp_path / "secret"), "--listen", address]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert f"listen: cannot bind {address}; fix: " in done.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--slots", "0"], "slots: "),
        (["--name", "Node 1"], "name: "),
        (["--listen", "nowhere"], "listen: "),
        (["--secret-file", "/no/such/file"], "secret-file: "),
    ],
)
async def test_a_wrong_option_is_one_line_with_field_and_fix(tmp_path, options, says):
    (tmp_path / "secret").write_text("00" * 32)
    command = [sys.executable, "-m", "hippodrome.service", "--secret-file", str(tmp_path / "secret"), *options]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith(f"hippodrome.service: {says}")
    assert "fix: " in done.stderr
    assert done.stderr.count("\n") == 1


async def test_a_node_dies_with_its_parent_when_asked(tmp_path):
    secret, address = tmp_path / "secret", tmp_path / "address"
    secret.write_text("00" * 32)
    options = ["--secret-file", str(secret), "--address-file", str(address), "--die-with-parent"]
    program = f"import subprocess, sys, time; print(subprocess.Popen({[sys.executable, '-m', 'hippodrome.service', *options]!r}"
    program += ", stdout=subprocess.DEVNULL).pid, flush=True); time.sleep(600)"
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        child = int(await asyncio.to_thread(parent.stdout.readline))
        async with asyncio.timeout(30):
            while not address.exists():
                await asyncio.sleep(0.02)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
    async with asyncio.timeout(30):
        while _lives(child):
            await asyncio.sleep(0.02)


def _lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except OSError:
        return False
