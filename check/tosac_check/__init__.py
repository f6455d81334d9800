# SPDX-License-Identifier: Apache-2.0
"""tosac_check -- a second opinion on Ethos-U command streams: container, borders, memory, waits, registers, numbers.

It shares no code with the compiler; it needs NumPy alone.
"""
