import { expect } from 'chai';
import type { z } from 'zod';
import { payloadDays } from '../../core/config/config.ts';
import { recordedAgent } from '../../core/http/headers.ts';
import { originOf, urlProblem } from '../../core/http/urls.ts';
import { sourceAnswerSchema } from '../../core/ingest/source-answer.ts';
import { channelConfigSchemas, isTimeZone } from '../../core/messages/channel.ts';
import { isCalendarDay } from '../../core/text/timestamps.ts';

const problemOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues[0]?.message ?? null;

describe('what is entered', () => {
  it('as an address is an absolute one by http or https, without credentials', () => {
    const base = 'https://a.example/';
    const addresses: [text: string, problem: RegExp | null][] = [
      ['https://example.com/hooks?a=1', null],
      ['HTTP://example.com', null],
      [base.padEnd(2048, 'x'), null],
      [base.padEnd(2049, 'x'), /at most 2048/],
      ['https://exam ple.com', /spaces/],
      ['https://example.com/\n', /spaces or control/],
      ['https://example.com/\0', /spaces or control/],
      ['ftp://example.com', /absolute/],
      ['https:example.com', /absolute/],
      ['example.com', /absolute/],
      ['https://', /absolute/],
      ['https://user@example.com', /credentials/],
      ['https://:password@example.com', /credentials/],
    ];
    for (const [text, problem] of addresses)
      expect(urlProblem(text) ?? '', text.slice(0, 40)).to.match(problem ?? /^$/);
    expect([originOf('https://a.example:443/x?y'), originOf('x')]).to.deep.equal(['https://a.example', null]);
  });

  it('as the answer of a source is short, is run by no browser, and is empty where HTTP has no body', () => {
    const answers: [answer: object, problem: RegExp | null][] = [
      [{}, null],
      [{ status: 204 }, null],
      [{ status: 299, body: 'x'.repeat(4096), contentType: 'text/xml; charset=utf-8' }, null],
      [{ status: 300 }, /./],
      [{ status: 199 }, /./],
      [{ status: 204, body: 'x' }, /must have an empty body with status 204 or 205/],
      [{ status: 205, body: 'x' }, /must have an empty body with status 204 or 205/],
      [{ body: 'x'.repeat(4097) }, /at most 4096/],
      [{ contentType: 'text' }, /must be a content type/],
      [{ contentType: 'Text/HTML; charset=utf-8' }, /browsers render/],
      [{ contentType: 'image/svg+xml' }, /browsers render/],
    ];
    for (const [answer, problem] of answers)
      expect(problemOf(sourceAnswerSchema, answer) ?? '', JSON.stringify(answer).slice(0, 60)).to.match(
        problem ?? /^$/,
      );
  });

  it('as a channel of alerts leads somewhere', () => {
    const { mail, webhook, slack, pagerduty } = channelConfigSchemas;
    const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;
    const channels: [schema: z.ZodType, config: object, problem: RegExp | null][] = [
      [mail, { emails: 'ops@example.com, dev@example.com' }, null],
      [mail, { emails: ' ' }, /must contain at least one email address/],
      [webhook, { url: 'https://a.example', secret }, null],
      [webhook, { url: 'a.example', secret }, /absolute/],
      [webhook, { url: 'https://a.example', secret: 'whsec_short' }, /whsec_/],
      [slack, { url: 'ftp://a.example' }, /absolute/],
      [pagerduty, { routingKey: 'R'.repeat(32) }, null],
      [pagerduty, { routingKey: 'R'.repeat(31) }, /32 letters and digits/],
      [pagerduty, { routingKey: 'R'.repeat(33) }, /32 letters and digits/],
    ];
    for (const [schema, config, problem] of channels)
      expect(problemOf(schema, config) ?? '', JSON.stringify(config)).to.match(problem ?? /^$/);
    const zones = ['UTC', 'Europe/Berlin', 'America/Argentina/Salta', '+01:00', 'CET', 'Mars/Base', ''];
    expect(zones.map(isTimeZone)).to.deep.equal([true, true, true, false, false, false, false]);
  });

  it('as days is the shorter time, unless something is kept for ever', () => {
    const rows: [payloads: number, events: number, days: number | null][] = [
      [7, 30, 7],
      [30, 7, 7],
      [0, 30, 30],
      [7, 0, 7],
      [0, 0, null],
    ];
    for (const [HOOKYARD_PAYLOAD_RETENTION_DAYS, HOOKYARD_EVENT_RETENTION_DAYS, days] of rows)
      expect(payloadDays({ HOOKYARD_PAYLOAD_RETENTION_DAYS, HOOKYARD_EVENT_RETENTION_DAYS })).to.equal(days);
    const dates = ['2026-11-21', '2028-02-29', '2026-02-29', '2026-11-21T10:00', '20261121', ''];
    expect(dates.map(isCalendarDay)).to.deep.equal([true, true, false, false, false, false]);
  });

  it('as a user agent is recorded in printable characters, and not whole', () => {
    expect(recordedAgent('a\té~')).to.equal('a??~');
    expect(recordedAgent('x'.repeat(201))).to.have.length(200);
  });
});
