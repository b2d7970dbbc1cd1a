// Functions of JSONata (docs.jsonata.org) that are ours, or that need more than the language of the sandbox: patterns,
// time zones, random numbers, code of their own.
import type { Answers } from './answers.ts';

export const payload = {
  text: 'Renée',
  items: [3, 1, 2],
  order: { id: 7, name: 'A' },
  data: 'eyJuYW1lIjoiUmVuw6llIn0=',
};

export const jsonata: Answers = {
  string: { '$string(payload.order)': '{"id":7,"name":"A"}' },
  match: { '$match("ababbabbcc", /a(b+)/, 1)': { match: 'ab', index: 0, groups: ['b'] } },
  replace: {
    '$replace("68F", /(-?\\d+)F\\b/, function($m) { $string(($number($m.groups[0]) - 32) * 5/9) & "C" })': '20C',
  },
  formatNumber: { '$formatNumber(12345.6, "#,###.00")': '12,345.60', '$formatNumber(0.14, "01%")': '14%' },
  random: { '$random() >= 0 and $random() < 1': true },
  error: { '$error("no order")': /^no order$/ },
  sort: { '$sort(payload.items, function($l, $r) { $l < $r })': [3, 2, 1] },
  shuffle: { '$sum($shuffle(payload.items))': 6 },
  base64encode: { '$base64encode(payload.text)': 'UmVuw6ll', '{ "a": 1, "b": $base64encode(payload.none) }': { a: 1 } },
  base64decode: {
    '$eval($base64decode(payload.data)).name': 'Renée',
    '$base64decode("/w==")': /not UTF-8 text/,
    '$base64decode("no base64!")': /^The text is not valid base64$/,
  },
  decodeUrlComponent: { '$decodeUrlComponent("%3Fx%3D%C3%A9")': '?x=é' },
  eval: { '$eval("[1, $string(2), $base64encode(\\"a\\")]")': [1, '2', 'YQ=='] },
  toMillis: { '$toMillis("07/11/2017 3:07PM", "[D01]/[M01]/[Y0001] [h#1]:[m01][P]")': 1510067220000 },
  fromMillis: {
    '$fromMillis(1510067557121, "[H01]:[m01]:[s01] [z]", "-0500")': '10:12:37 GMT-05:00',
    '$fromMillis(1499440357121, "[H01]:[m01] [z]", "America/New_York")': '11:12 GMT-04:00',
    '$fromMillis(1510067557121, "[FNn] [D1o] [MNn]", "+05:30")': 'Tuesday 7th November',
    '$fromMillis(1510067557121, "[H01]", "Mars/Olympus")': /Invalid time zone specified: Mars\/Olympus/,
    '$fromMillis(1510067557121, "[H01]", "05")': /Invalid time zone: 05/,
  },
  now: { '$now()': '2026-11-28T10:15:00.123Z' },
};
