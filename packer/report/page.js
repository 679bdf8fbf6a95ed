/* SPDX-License-Identifier: GPL-2.0-or-later */
'use strict';
for (const table of document.querySelectorAll('table:not(.heat)')) {
  const body = table.tBodies[0];
  table.querySelectorAll('th').forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const number = head.classList.contains('n');
      const down = head.ariaSort ? head.ariaSort === 'ascending' : number;
      const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
      const order = (a, b) => {
        a = key(a); b = key(b);
        if (a === '' || b === '') return (a === '') - (b === '');
        const sign = number ? a - b : a.localeCompare(b, undefined, {numeric: true});
        return down ? -sign : sign;
      };
      body.append(...[...body.rows].sort(order));
      table.querySelectorAll('th').forEach(other => { other.ariaSort = null; });
      head.ariaSort = down ? 'descending' : 'ascending';
    });
  });
}
