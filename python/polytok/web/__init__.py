"""A local page that shows what tokenizers do to a text, and HTML files that show the same without a server.

server.py answers HTTP requests, guard.py decides which requests are answered, answers.py has an answer for each kind
of request, models.py keeps the loaded tokenizers, and page.py builds HTML from the files in assets/, which are the same
for the page and for the files.
"""

from .page import html_of_traces
from .server import PageServer

__all__ = ["PageServer", "html_of_traces"]
