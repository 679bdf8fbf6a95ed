/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page - draws what berthctl report --html has put into #data: html.c says what is in it. Figures come as they are in
 * report's own JSON ("value", by column) and as its table has them ("text"). Text of users is only ever added as text. */
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const main = document.querySelector('main');
const colours = 9, barsMost = 15, mapsMost = 24, columnsMost = 62, left = 62, right = 990;
const know = (value, text) => value === null || value === undefined ? '' : text(value);

/* ---- elements ---- */

function build(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
const el = (name, attributes = {}, ...children) => build(document.createElement(name), attributes, children);
const space = document.querySelector('svg').namespaceURI;
const draw = (name, attributes = {}, ...children) => build(document.createElementNS(space, name), attributes, children);
const soft = text => el('p', {class: 'soft'}, text);
const picture = (height, label, children) =>
  draw('svg', {viewBox: `0 0 1000 ${height}`, role: 'img', 'aria-label': label}, ...children);

function section(title, ...children) {
  const made = el('section', {}, el('h2', {}, title), ...children);
  main.append(made);
  return made;
}

/* Columns are [title, is it a figure?], cells a text, or [text, what it is sorted by]. */
function table(columns, rows, foot, kind = '') {
  const line = row => el('tr', {}, ...row.map((cell, i) => {
    const [text, by] = Array.isArray(cell) ? cell : [cell];
    const made = el('td', {class: columns[i][1] ? 'n' : 'w', 'data-t': columns[i][0]}, text);
    if (by !== undefined) made.dataset.v = by ?? '';
    return made;
  }));
  const head = columns.map(([title, figure]) => el('th', figure ? {scope: 'col', class: 'n'} : {scope: 'col'}, title));
  const made = el('table', {class: kind}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows.map(line)));
  if (foot) made.append(el('tfoot', {}, line(foot)));
  head.forEach((cell, column) => sortable(made, cell, column));
  return el('div', {class: 'scroll', tabindex: 0}, made);
}

/* Has a click on the head of a column sort the table, and another one the other way round. */
function sortable(of, head, column) {
  const button = el('button', {type: 'button'}, ...head.childNodes);
  head.append(button);
  button.addEventListener('click', () => {
    const number = head.classList.contains('n');
    const down = head.ariaSort ? head.ariaSort === 'ascending' : number;
    const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
    const order = (a, b) => {
      a = key(a); b = key(b);
      if (a === '' || b === '') return (a === '') - (b === '');
      const sign = number ? parseFloat(a) - parseFloat(b) : a.localeCompare(b, undefined, {numeric: true});
      return down ? -sign : sign;
    };
    const body = of.tBodies[0];
    body.append(...[...body.rows].sort(order));
    of.querySelectorAll('th').forEach(other => { other.ariaSort = null; });
    head.ariaSort = down ? 'descending' : 'ascending';
  });
}

/* ---- figures ---- */

const percent = part => know(part, p => `${(p * 100).toFixed(1)}\u00a0%`);
const signed = (value, text) => (value < 0 ? '-' : '+') + text;
const hours = core_s => know(core_s, s => (s / 3600).toFixed(Math.abs(s) < 35982 ? 3 : Math.abs(s) < 3598200 ? 1 : 0));
const gain = core_s => know(core_s, s => (s < 0 ? '' : '+') + hours(s));

/* With four digits that count, and the unit in which it is 1 or more. */
function joules(value) {
  const units = [[3.6e9, 'MWh'], [3.6e6, 'kWh'], [1e6, 'MJ'], [1e3, 'kJ'], [1, 'J']];
  const [scale, unit] = units.find(([least]) => value >= least * 0.99995) ?? units[4];
  const scaled = value / scale;
  return scaled.toFixed(scaled < 9.9995 ? 3 : scaled < 99.995 ? 2 : scaled < 999.95 ? 1 : 0) + '\u00a0' + unit;
}

/* What a column of a row says to people: ">=4.000kJ" has a sign of its own, and a blank before its unit. */
function say(of, row, key) {
  const i = of.columns.findIndex(column => column.key === key);
  const text = row.text[i].replace(/^>=/, '\u2265\u202f');
  return of.columns[i].figure ? text.replace(/^([\u2265\u202f0-9.-]+)(?!e[-+])([A-Za-z])/, '$1\u00a0$2') : text;
}
const all = data.total.rows[0], told = key => say(data.total, all, key);

/* The greatest value of a scale on which one outlier does not hide the others: one is more than four times what `part`
 * of them do not exceed. */
function scaleOf(values, part) {
  const known = values.filter(value => value > 0).sort((a, b) => a - b);
  if (!known.length) return 0;
  const most = known[known.length - 1], at = known[Math.floor((known.length - 1) * part)];
  return most > 4 * at ? 1.25 * at : most;
}

/* A user's colour: those who used most energy have one of their own. */
const users = data.users.rows.map(row => row.text[0]);
function colourOf(value) {
  const at = users.indexOf(value.user || String(value.uid));
  return at >= 0 && at < colours ? at : colours;
}

/* ---- the head ---- */

function head() {
  const cluster = told('cluster'), verdicts = data.benefit ? [data.benefit.verdict, data.benefit.steering].filter(Boolean) : [];
  const classes = {helps: 'helps', hurts: 'hurts', 'no gain here': 'even'};
  if (cluster) document.title += ', ' + cluster;
  main.append(el('header', {}, el('h1', {}, 'What steps cost'),
    soft((cluster ? `Cluster ${cluster}: steps that ran ` : 'Steps that ran ') + (data.since ? `from ${data.since} ` : '') +
         `until ${data.until} and have ended.`),
    ...verdicts.map(verdict => el('p', {class: 'verdict ' + (classes[verdict.word] ?? 'open')}, verdict.sentence))));
}

function cards() {
  const words = {
    energy_j: 'energy', cost: 'what it cost', co2_g: 'CO2 that it stands for', edp_js: 'energy-delay product of the jobs',
    average_power_w: 'average power of a job', slowdown_avoided: 'slowdown avoided, predicted', job_count: 'jobs',
    step_count: 'steps', core_hours: 'core-hours given', unused_core_hours: 'of these not used',
    metered: 'step records that were metered'};
  const verdict = data.benefit && data.benefit.verdict, measured = verdict && verdict.programs > 0;
  const card = (figure, what) => el('li', {}, el('b', {}, figure), el('span', {}, what));
  const made = data.total.columns.filter(({key}) => words[key] && !(measured && key === 'slowdown_avoided'))
    .map(({key}) => card(told(key) || 'not known', words[key]));
  if (measured) {
    const [low, high] = verdict.gain < 0 ? [-verdict.high, -verdict.low] : [verdict.low, verdict.high];
    made.unshift(card(`${percent(Math.abs(verdict.gain))} ${verdict.gain < 0 ? 'more' : 'less'}`,
      `time where berth put programs, measured (${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)})`));
  }
  main.append(el('ul', {class: 'cards'}, ...made));
}

/* ---- where the figures come from ---- */

function sources() {
  const {metered, records} = all.value, source = told('energy_source'), idle = told('idle_energy');
  const model = source.split(/[, ]+/).includes('model');
  const item = (...children) => el('li', {}, ...children);
  const energy = metered ? [item(`Energy: ${source || 'of a source that was not written down'}. A step is billed its part of ` +
      'what the packages and their memory used, or the whole node where nothing finer is metered.' +
      (idle ? ` What these take when idle is billed by the rule idle_energy = ${idle}.` : ''),
      ...model ? [el('strong', {}, ' Some of it is a model, an estimate that the site configured.')] : [])]
    : [item('No meter was read while these steps ran: their energy is not known.')];
  if (metered && metered < records)
    energy.push(item(`Of ${records - metered} of ${records} step records the energy is not known; sums that lack some are ` +
                     'marked \u2265.'));
  section('Where these figures come from', el('ul', {}, ...energy,
    item(`Instructions, misses and memory traffic: ${told('counters_source') || 'nothing was counted'}.`),
    item('Slowdowns, and the slowdown avoided (predicted where Slurm put them, less predicted where they stood): ' +
         `${told('slowdown_source') || 'it is not known by what they were predicted'}.`),
    item('An empty cell is a figure that nobody measured. The energy-delay product of a job is its energy times its ' +
         'elapsed time; of a user, the sum of his jobs\'.'))).className = metered === records && !model ? '' : 'note';
}

/* ---- does berth help? ---- */

function group(of, name, what, measuredBy) {
  const mean = ({n, mean, high}) => [percent(mean), know(n > 1 ? high : null, h => `\u00b1\u202f${((h - mean) * 100).toFixed(1)}`), String(n)];
  const none = {n: 0, mean: null, high: null}, column = title => [title, true];
  if (!of.steps) return [];
  const sum = of.core_s_predicted, energy = of.energy_j_predicted;
  return [el('h3', {}, `${name}: ${of.steps} steps`),
    table([['Slowdown', false], ...['predicted', '95\u00a0%', 'steps', 'measured', '95\u00a0%', 'steps'].map(column)],
      [['where Slurm put them', ...mean(of.slurm_predicted), ...mean(measuredBy ? none : of.measured)],
       [measuredBy ? 'as berth put them' : 'as berth would have', ...mean(of.berth_predicted),
        ...mean(measuredBy ? of.measured : none)]]),
    ...sum.n ? [el('p', {}, `Core-hours ${what}, predicted: `, el('b', {}, gain(sum.sum)),
      ` (winners ${gain(sum.gained)}, losers ${gain(sum.lost)}).`,
      ...energy.n ? [` Energy ${what}, predicted: `, el('b', {}, signed(energy.sum, joules(Math.abs(energy.sum)))),
        `, of ${energy.n} metered.`] : [],
      of.judged ? ` ${of.slower_than_slurm} of ${of.judged} measured were slower than predicted where Slurm put them.` : '')] : []];
}

const cut = (title, list, of) => el('h3', {}, title + (list.length < of ? `: ${list.length} of ${of}` : ''));

function compared(title, list, of) {
  const columns = [['Program', false], ...['Cores', 'Slurm', 'jobs', 'berth', 'jobs', 'Core-hours'].map(name => [name, true])];
  return [cut(title, list, of), list.length ? table(columns, list.map(p => [p.tag || p.program, String(p.cores),
    percent(p.slurm.mean), String(p.slurm.n), percent(p.berth.mean), String(p.berth.n), gain(p.core_s)]))
    : el('p', {}, 'None.')];
}

function predicted(title, list, of) {
  const columns = [['Program', false], ...['Cores', 'Slurm', 'berth', 'Measured', 'Core-hours'].map(name => [name, true]),
    ['Why', false]];
  return list.length ? [cut(`${title} (program not measured both ways)`, list, of), table(columns, list.map(step =>
    [step.program, String(step.cores), percent(step.slurm_predicted), percent(step.berth_predicted), percent(step.measured),
     gain(step.core_s_predicted), el('code', {}, step.explain)]))] : [];
}

function measured(of, b) {
  if (!of.programs) return [];
  const both = of.slurm.mean === null ? '' : `: measured, they were ${percent(of.slurm.mean)} slower than alone where Slurm put ` +
    `them (${of.slurm.n} jobs), and ${percent(of.berth.mean)} as berth did (${of.berth.n})`;
  return [el('p', {}, `${of.programs} ${of.programs === 1 ? 'program' : 'programs'} ran both ways, beside other neighbours${both}. Core-hours ` +
    `${of.core_s < 0 ? 'lost' : 'saved'}: `, el('b', {}, hours(Math.abs(of.core_s))), '.'),
    ...compared('Programs that gained, measured', b.gained, data.of.gained),
    ...compared('Programs that lost, measured', b.lost, data.of.lost)];
}

function benefit(b) {
  const {predicted_less_measured: bias, prediction_error: error} = b, items = list => el('ul', {}, ...list);
  section('Does berth help?', soft('Batch scripts are left out. What the model predicts and what was measured stand in ' +
      'columns of their own; the intervals are of the mean over these steps.'),
    ...measured(b.measured_gain, b), ...group(b.placed, 'Placed by berth', 'saved', true),
    ...group(b.observed, 'Only observed', 'savable', false),
    el('p', {}, error.n ? `Predicted less measured, where they stood: ${signed(bias.mean, Math.abs(bias.mean * 100).toFixed(1))} ` +
      `percentage points on average, off by ${(error.mean * 100).toFixed(1)} percentage points (${error.n} steps).`
      : 'No slowdown was both predicted and measured: how far predictions are off is not known here.'),
    ...b.idle_core_s.n ? [el('p', {}, `${b.idle_core_s.n} steps stood on cores that Slurm had given to nobody, for `,
      el('b', {}, `${hours(b.idle_core_s.sum)} core-hours`), '.')] : [],
    ...b.size_freed_core_s.n ? [el('p', {}, 'Sizes freed ', el('b', {}, `${hours(b.size_freed_core_s.sum)} core-hours`),
      ` of ${b.size_freed_core_s.n} steps.`)] : [],
    ...predicted('Predicted to gain', b.gained_predicted, data.of.gained_predicted),
    ...predicted('Predicted to lose', b.lost_predicted, data.of.lost_predicted),
    ...b.not_known.length ? [el('h3', {}, 'Not known'),
      items(b.not_known.map(why => el('li', {}, `${why.steps} steps, ${hours(why.core_s)} core-hours: ${why.text}`)))] : [],
    ...b.profile_first.length ? [el('h3', {}, 'Worth profiling first, by core-hours'),
      items(b.profile_first.map(p => el('li', {}, el('code', {}, `berthctl profile -- ${p.program}`),
        `: ${hours(p.core_s)} core-hours of ${p.user || 'a user'}`)))] : []);
}

/* ---- bars ---- */

/* A bar of `part` of what there is room for; more than 1 ends in stripes. */
function bar(part, colour) {
  return el('i', {class: 'track'}, ...part === null ? [] : [el('i', {class: `c${colour}${part > 1 ? ' over' : ''}`,
    style: `width:${(Math.min(part, 1) * 100).toFixed(1)}%`})]);
}
const legend = list => el('ul', {class: 'legend'}, ...list.map(([colour, name]) =>
  el('li', {}, el('i', {class: `c${colour}`}), name)));

function bars(title, of, name, colour) {
  const rows = of.rows.slice(0, barsMost);
  const column = ([key, what]) => {
    const values = rows.map(row => row.value[key]);
    const most = scaleOf(values, rows.length > 1 ? 1 - 0.5 / (rows.length - 1) : 1);
    return el('div', {}, el('h3', {}, what), el('ul', {class: 'bars'}, ...rows.map((row, i) =>
      el('li', {class: 'bar'}, el('span', {}, name(row)), bar(values[i] === null ? null : values[i] / (most || 1), colour(row, i)),
         el('b', {}, say(of, row, key) || 'not known')))),
      ...values.some(value => value > most) ? [soft('A bar that ends in stripes is longer than drawn.')] : []);
  };
  if (rows.length)
    section(title, el('div', {class: 'two'}, ...[['energy_j', 'Energy'], ['edp_js', 'Energy-delay product']].map(column)),
      ...rows.length < of.of ? [soft(`The ${rows.length} that used most energy, of ${of.of}.`)] : []);
}

function slowdowns({from, n}) {
  const kinds = [['predicted where Slurm put it', 9], ['predicted, where it stood', 0], ['measured', 2]];
  const most = Math.max(...n.flat());
  const name = i => i === 0 ? `less than ${from[1]}\u00a0%` : i + 1 === from.length ? `${from[i]}\u00a0% and more`
    : `${from[i]} to ${from[i + 1]}\u00a0%`;
  if (most)
    section('Slowdowns', soft('How many steps, on each of their nodes, ran how much slower than alone.'),
      legend(kinds.map(([what, colour]) => [colour, what])),
      el('ul', {class: 'bars close'}, ...from.flatMap((_, i) => kinds.map(([, colour], k) =>
        el('li', {class: k ? 'bar' : 'bar first'}, el('span', {}, k ? '' : name(i)), bar(n[i][k] / most, colour),
           el('b', {}, String(n[i][k])))))));
}

/* ---- time, from left to right ---- */

const {from, to, zone} = data.axis;
const xOf = at => left + Math.min(Math.max((at - from) / (to - from), 0), 1) * (right - left);
const offsetOf = at => zone.reduce((offset, [since, s]) => since <= at ? s : offset, zone[0][1]);

/* Draws it at the bottom, with lines up to 0, in the time of the machine that made the report. */
function axis(bottom) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800,
    1209600, 2592000, 7776000, 31536000];
  const tick = steps.find(step => Math.floor((to - from) / step) <= 8) ?? steps[steps.length - 1];
  const made = [draw('line', {x1: left, x2: right, y1: bottom, y2: bottom})];
  for (let at = from + (tick - (from + offsetOf(from)) % tick) % tick; at <= to; at += tick) {
    const date = new Date((at + offsetOf(at)) * 1000), clock = date.toISOString().slice(11, 19), x = xOf(at).toFixed(1);
    const day = date.toLocaleDateString('en-US', {month: 'short', day: '2-digit', timeZone: 'UTC'});
    made.push(draw('line', {x1: x, x2: x, y1: 0, y2: bottom}),
      draw('text', {class: `s ${at === to ? 'e' : 'm'}`, x, y: bottom + 15},
        tick >= 86400 || clock.startsWith('00:00') ? day : tick < 60 ? clock : clock.slice(0, 5)));
  }
  return made;
}

/* A step's power is taken to be the same from its start to its end, since its record has its energy alone. */
function power({width_s, first, joule}) {
  const bins = 200, top = 14, bottom = 164, width_bin = (to - from) / bins, wide = (right - left) / bins;
  const watts = Array(bins).fill(0);
  joule.forEach((energy, i) => {
    const start = (first + i) * width_s - from, end = start + width_s;
    for (let k = Math.max(Math.floor(start / width_bin), 0); k < bins && k * width_bin < end; k++)
      watts[k] += Math.max(energy * (Math.min(end, (k + 1) * width_bin) - Math.max(start, k * width_bin)) / width_s / width_bin, 0);
  });
  const most = scaleOf(watts, 0.95), yOf = watt => (top + (1 - Math.min(watt / most, 1)) * (bottom - top)).toFixed(1);
  if (!most) return;
  const number = watt => `${Number((watt >= 1e3 ? watt / 1e3 : watt).toPrecision(4))}\u00a0${watt >= 1e3 ? 'kW' : 'W'}`;
  const line = watt => [draw('line', {x1: left, x2: right, y1: yOf(watt), y2: yOf(watt)}),
    draw('text', {class: 's e', x: left - 6, y: Number(yOf(watt)) + 4}, number(watt))];
  const over = watts.flatMap((watt, i) => watt > most ? [draw('path', {class: 'over', d: `M${left + (i + 0.5) * wide} 0l5 9h-10z`},
    draw('title', {}, number(watt)))] : []);
  section('Power over time', soft('What the steps that were metered drew together, each its average from its start to its end.'),
    el('figure', {}, picture(bottom + 22, 'Power over time', [...axis(bottom), ...line(most / 2), ...line(most),
      draw('path', {class: 'area', d: `M${left} ${bottom}${watts.map(watt => `V${yOf(watt)}h${wide}`).join('')}V${bottom}Z`}), ...over]),
      ...over.length ? [el('figcaption', {}, '\u25b2: more than the scale has, which is that of 95 of 100 times.')] : []));
}

/* A line for each node, a column for each day, or each month where there are too many. */
function days({energy, day, nodes, left_out}) {
  if (!day.length) return;
  const months = day.length > columnsMost, labels = months ? [...new Set(day.map(name => name.slice(0, 7)))] : day;
  const at = day.map(name => labels.indexOf(months ? name.slice(0, 7) : name));
  const figure = value => energy ? joules(value) : `${Number((value / 3600).toPrecision(3))}\u00a0h`;
  const lines = nodes.map(({node, first, value}) => {
    const cells = Array(labels.length).fill(null);
    value.forEach((v, i) => { if (v !== null) cells[at[first + i]] = (cells[at[first + i]] ?? 0) + v; });
    return {node, cells};
  });
  const most = scaleOf(lines.flatMap(({cells}) => cells), 0.95), few = labels.length <= 14;
  const cell = (node, value, i) => value === null ? el('td') : el('td', {
    style: `--v:${(most ? Math.min(value / most, 1) : 0).toFixed(2)}`, title: `${node}, ${labels[i]}: ${figure(value)}`},
    value > most ? '\u25b2' : '', few ? figure(value) : '');
  const name = label => new Date(months ? label + '-01' : label).toLocaleDateString('en-US', {timeZone: 'UTC',
    ...months ? {month: 'short', year: '2-digit'} : few ? {month: 'short', day: '2-digit'} : {day: '2-digit'}});
  section(`Nodes by ${months ? 'month' : 'day'}`, soft(`${energy ? 'Energy' : 'Core-hours given'} of the steps of each node ` +
      `${months ? 'in each month' : 'on each day'} from ${day[0]}. The darkest cells have ${figure(most)} and more; what lies ` +
      'above that scale is marked \u25b2.'),
    el('div', {class: 'scroll', tabindex: 0}, el('table', {class: 'heat'},
      el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Node'), ...labels.map(label => el('th', {scope: 'col'}, name(label))))),
      el('tbody', {}, ...lines.map(({node, cells}) => el('tr', {}, el('th', {scope: 'row'}, node),
        ...cells.map((value, i) => cell(node, value, i))))))),
    ...left_out ? [soft(`${left_out} records of more nodes are not shown: --nodelist asks for certain ones.`)] : [])
    .className = 'long';
}

/* ---- each node over time ---- */

/* The numbers of a list such as "0-3,8". */
const listed = text => (text || '').split(',').filter(Boolean).flatMap(part => {
  const [first, last = first] = part.split('-').map(Number);
  return Array.from({length: last - first + 1}, (_, i) => first + i);
});

function map(node, steps) {
  const placed = steps.map(step => ({...step, cpus: listed(step.value.cpus || step.value.home)})).filter(({cpus}) => cpus.length);
  const cpus = [...new Set(placed.flatMap(step => step.cpus))].sort((a, b) => a - b), unplaced = steps.length - placed.length;
  const high = Math.min(Math.max(360 / cpus.length, 4), 20), bottom = cpus.length * high, every = Math.ceil(13 / high);
  const names = cpus.flatMap((cpu, i) => i % every ? [] : [draw('text', {class: 's e', x: left - 8, y: (i + 0.5) * high + 4},
    (i ? '' : 'CPU ') + cpu)]);
  const step = ({value, text, cpus: its}) => {
    const [job, name, user, where, start, elapsed, energy] =
      ['job_id', 'job_name', 'user', 'cpus', 'start', 'elapsed_s', 'energy_j'].map(key => say(data.steps, {text}, key));
    const x = xOf(value.start);
    const lines = its.map(cpu => cpus.indexOf(cpu)).sort((a, b) => a - b), rects = [];
    lines.forEach((line, i) => {
      if (i && line === lines[i - 1] + 1) rects[rects.length - 1].n++;
      else rects.push({line, n: 1});
    });
    return draw('g', {class: `bar c${colourOf(value)}`},
      draw('title', {}, `${job} ${name}, ${user}, CPUs ${where}, Start ${start}, Elapsed ${elapsed}, Energy ${energy}`),
      ...rects.map(({line, n}) => draw('rect', {x: x.toFixed(1), y: line * high + 0.5,
        width: Math.max(xOf(value.end) - x, 1.2).toFixed(1), height: n * high - 1, rx: 2})));
  };
  return el('div', {class: 'whole'}, el('h3', {}, node), el('figure', {},
    ...cpus.length ? [picture(bottom + 22, `Steps on the node ${node} over time`, [...axis(bottom), ...names, ...placed.map(step)])] : [],
    ...unplaced ? [el('figcaption', {}, `Of ${unplaced} steps it is not known where they stood.`)] : []));
}

function maps() {
  const title = 'The nodes over time', nodes = new Map();
  if (data.records > data.steps.most) {
    section(title, soft(`${data.records} steps are too many to be drawn one by one (${data.steps.most} at most): --nodelist, ` +
      '--user, --starttime and --endtime ask for certain ones.'));
    return;
  }
  for (const step of data.steps.rows.sort((a, b) => a.value.start - b.value.start)) {
    const key = JSON.stringify([step.value.cluster, step.value.node_list]);
    nodes.set(key, [...nodes.get(key) ?? [], step]);
  }
  if (!nodes.size) return;
  const order = [...nodes.keys()].sort((a, b) => a.localeCompare(b, 'en', {numeric: true})), others = users.length - colours;
  section(title, soft('A line for each CPU that a step stood on, a bar for each step from its start to its end, where it stood ' +
      'last. Colours are users.'),
    legend([...users.slice(0, colours).map((user, i) => [i, user]), ...others > 0 ? [[colours, `${others} others`]] : []]),
    ...order.slice(0, mapsMost).map(key => map(JSON.parse(key)[1], nodes.get(key))),
    ...order.length > mapsMost ? [soft(`${order.length - mapsMost} more nodes are not drawn: --nodelist asks for certain ones.`)] : [])
    .className = 'long';
}

/* ---- tables ---- */

function rows(title, of, shown, foot) {
  const columns = of.columns.slice(shown);
  const cells = row => columns.map(({key, figure}) => figure ? [say(of, row, key), row.value[key]] : say(of, row, key));
  if (foot) foot.text[shown] = 'all users';
  section(title, ...of.rows.length < of.of ? [soft(`The ${of.rows.length} that used most energy, of ${of.of}; --csv has all.`)] : [],
    table(columns.map(column => [column.title, column.figure]), of.rows.map(cells), foot && cells(foot), 'rows')).className = 'long';
}

main.replaceChildren();
head();
cards();
sources();
if (data.benefit && data.benefit.steps) benefit(data.benefit);
if (!data.jobs.rows.length) section('No steps', el('p', {}, 'No step of the kind that was asked for ended in this time.'));
bars('Energy and EDP by user', data.users, row => row.text[0] || 'not known', (row, i) => Math.min(i, colours));
bars('Energy and EDP by job', data.jobs, row => `${say(data.jobs, row, 'job_id') || 'not known'} ${row.value.job_name ?? ''}`,
     row => colourOf(row.value));
power(data.power);
slowdowns(data.slowdowns);
days(data.days);
maps();
if (data.jobs.rows.length) {
  rows('Users', data.users, 0, data.users.rows.length > 1 ? data.all.rows[0] : null);
  rows('Jobs', data.jobs, 1, null);
}
main.append(el('footer', {}, `Made by berthctl report (berth ${data.version}) ${data.now} from the ledger ${data.ledger}.`));
