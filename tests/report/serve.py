# SPDX-License-Identifier: BSD-3-Clause
# serve.py LOG: serves the files of this folder on 127.0.0.1 for at most ten minutes. Prints the port,
# and writes the path of each request to LOG.
import http.server
import sys
import threading

log = open(sys.argv[1], "w", buffering=1, encoding="utf-8")


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        print(self.path, file=log)
        super().do_GET()

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1])
threading.Event().wait(600)
