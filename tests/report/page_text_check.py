# SPDX-License-Identifier: BSD-3-Clause
"""Prints what a page says of a source file, and the lines of it: page_text_check.py PAGE FILE."""
import sys
import urllib.parse

from page_driver import Page

page = Page(sys.argv[1])
page.settle()
page.show("source&whole=yes&file=" + urllib.parse.quote(sys.argv[2]))
left_out, said, lines = page.ask("""
    return [document.querySelector('#sources-left-out')?.textContent || '', document.querySelector('#source-said').textContent,
        [...document.querySelectorAll('#source-lines tbody tr')].map(row => row.querySelector('.code')?.textContent)]""")
print("left out:", left_out)
print("said:", said)
for line in lines:
    print("…" if line is None else line)
page.close()
