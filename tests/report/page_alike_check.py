# SPDX-License-Identifier: BSD-3-Clause
"""Prints the names in the tree of contexts of a page, a line for each row: page_alike_check.py PAGE."""
import sys

from page_driver import Page

page = Page(sys.argv[1])
page.settle()
page.show("contexts")
for name in page.ask("return [...document.querySelectorAll('#tree tbody tr')].map(row => row.cells[0].textContent)"):
    print(name, "")
page.close()
