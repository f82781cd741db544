# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest

# ansible-test does not have the folder of the tools in its path.
decision_table = pytest.importorskip("decision_table")


def test_decision_table_is_up_to_date():
    assert decision_table.PAGE.read_text() == decision_table.table()
