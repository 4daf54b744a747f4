"""Receives signed events and verifies each with the public package `standardwebhooks`.

Usage: RVC_EVENT_SECRET=... verify_webhook.py [--port 0] [--count N] [--timeout SECONDS]

The first line on stdout is {"ready": true, "url": ...}. Then comes one line for each request:
{"verified": true, "id": ..., "timestamp": ..., "event": {...}} or {"verified": false, "error": ...}.
Ends with 0 after N verified events, with 1 when one did not verify or the time ran out.
"""

import argparse
import base64
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks.webhooks import Webhook

BODY_BYTES_MAX = 256 * 1024
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")


def webhook_for(secret: str) -> Webhook:
    """The package reads every secret as base64; one without the prefix is its UTF-8 bytes here."""
    if not secret.startswith("whsec_"):
        secret = "whsec_" + base64.b64encode(secret.encode()).decode()
    return Webhook(secret)


def say(**fields) -> None:
    print(json.dumps(fields), flush=True)


def make_handler(webhook: Webhook, settled):
    class Handler(BaseHTTPRequestHandler):
        # Keeps the connection, as a sender that posts many events expects.
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            length = int(self.headers.get("content-length", "0"))
            if length > BODY_BYTES_MAX:
                self.close_connection = True
                self.answer(413, {"ok": False})
                return
            body = self.rfile.read(length)
            headers = {name: self.headers.get(name, "") for name in HEADERS}
            try:
                event = webhook.verify(body, headers)
            except Exception as error:  # whatever it objects to, it did not verify
                self.answer(401, {"ok": False})
                say(verified=False, error=f"{type(error).__name__}: {error}")
                settled(False)
                return
            self.answer(202, {"ok": True})
            say(verified=True, id=headers["webhook-id"], timestamp=int(headers["webhook-timestamp"]), event=event)
            settled(True)

        def answer(self, status, data):
            body = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


def main() -> int:
    parser = argparse.ArgumentParser(description="Verify signed events with standardwebhooks.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--count", type=int, default=1, help="end after so many verified events; 0 never ends")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds")
    options = parser.parse_args()
    secret = os.environ.get("RVC_EVENT_SECRET", "")
    if not secret:
        print("RVC_EVENT_SECRET is not set; give it the sender's secret", file=sys.stderr)
        return 64

    over = threading.Event()
    counts = {True: 0, False: 0}

    def settled(verified: bool) -> None:
        counts[verified] += 1
        if not verified or (options.count and counts[True] >= options.count):
            over.set()

    server = HTTPServer(("127.0.0.1", options.port), make_handler(webhook_for(secret), settled))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say(ready=True, url=f"http://127.0.0.1:{server.server_address[1]}/api/agent/events")
    over.wait(options.timeout if options.count else None)
    return 0 if counts[True] >= options.count and not counts[False] else 1


if __name__ == "__main__":
    sys.exit(main())
