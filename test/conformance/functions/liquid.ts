// Filters and tags of LiquidJS (liquidjs.com) that are ours, or that need more than the language of the sandbox: time
// zones, patterns, random numbers, code of their own.
import type { Answers } from './answers.ts';

export const filters: Answers = {
  escape: { '{{ "<a> & \'b\'" | escape }}': '&lt;a&gt; &amp; &#39;b&#39;' },
  url_decode: { '{{ "a+b%26%C3%A9" | url_decode }}': 'a b&é' },
  sample: { '{{ payload.items | sample: 3 | sort | join }}': '1 2 3' },
  date: {
    '{{ "2026-11-28T10:15:00Z" | date: "%Y-%m-%d %H:%M %z %Z", "America/New_York" }}':
      '2026-11-28 05:15 -0500 America/New_York',
    '{{ "2026-03-08T07:00:00Z" | date: "%H:%M %z", "America/New_York" }}': '03:00 -0400',
    '{{ "2026-07-28T00:15:00Z" | date: "%d %H:%M %z", "Asia/Kathmandu" }}': '28 06:00 +0545',
    '{{ 1795860900 | date: "%a %A %b %B %d %e %j %I %l %p %P %q %s %y %C" }}':
      'Sat Saturday Nov November 28 28 332 10 10 AM am th 1795860900 26 20',
    '{{ "now" | date: "%s" }} {{ "today" | date: "%Y" }}': '1795860900 2026',
    '{{ "2026-11-28T10:15:00Z" | date: "%G-%V" }}': /%G.*date/,
  },
  date_to_xmlschema: { '{{ "2026-07-28T00:15:00Z" | date_to_xmlschema }}': '2026-07-28T00:15:00+00:00' },
  date_to_string: { '{{ "2026-07-28T00:15:00Z" | date_to_string: "ordinal", "US" }}': 'Jul 28th, 2026' },
  base64_encode: {
    '{{ "one two three" | base64_encode }} {{ payload.text | base64_encode }}': 'b25lIHR3byB0aHJlZQ== UmVuw6ll',
  },
  base64_decode: {
    '{{ "b25lIHR3byB0aHJlZQ==" | base64_decode }} {{ "UmVuw6ll" | base64_decode }}': 'one two three Renée',
    '{{ "###" | base64_decode }}': /The text is not valid base64/,
    '{{ "/w==" | base64_decode }}': /not UTF-8 text/,
  },
  sha256: { '{{ "abc" | sha256 }}': 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
  hmac_sha256: {
    '{{ "The quick brown fox jumps over the lazy dog" | hmac_sha256: "key" }}':
      'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
  },
};

export const tags: Answers = {
  '{% for %}': {
    '{% for i in payload.items reversed %}{{ forloop.index }}{{ i }} {% else %}none{% endfor %}': '12 21 33 ',
  },
};
