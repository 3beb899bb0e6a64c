# ruff: noqa: E401, E702, I001
"""A bot from the bare .proto, without the SDK or generated code: pip install grpcio-tools, PYTHONPATH=proto."""
import os, queue, grpc
pb, rpc = grpc.protos_and_services("hippodrome/v1/play_service.proto")
out = queue.SimpleQueue(); say = lambda **event: out.put(pb.PlayRequest(events=[pb.BotEvent(**event)]))
say(hello=pb.Hello(ticket=os.environ["HIPPODROME_TICKET"], protocol_version=1, max_matches=4))
for frame in rpc.PlayServiceStub(grpc.insecure_channel(os.environ["HIPPODROME_ADDRESS"])).Play(iter(out.get, None)):
    for d in [e.decision for e in frame.events if e.HasField("decision")]:
        say(answer=pb.Answer(match=d.match, decision=d.number, moves=d.legal_moves[:1]))
