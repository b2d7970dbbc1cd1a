import { expect } from 'chai';
import fc from 'fast-check';
import { named, ownWords } from '../../core/text/error-summary.ts';
import { type MailFacts, renderConfirmation, renderMail, withStopLink } from '../../core/messages/mail.ts';
import { recipients } from '../../core/messages/route-mails.ts';

const facts: MailFacts['facts'] = {
  ...{ source_id: 'src_1', destination_id: 'dst_1', event_id: 'evt_1', delivery_id: 'dlv_1', attempts: 6 },
  ...{ status_code: 503, error_summary: ownWords`The destination returned 503`, at: '2026-11-21T10:05:00Z' },
};
const failure: MailFacts = {
  kind: 'failure',
  routeName: 'Orders',
  sourceName: 'Shop',
  destinationName: 'Acme CRM',
  count: 1,
  since: '2026-11-21T10:00:00.000Z',
  facts,
  failedBefore: null,
  temporalUrl: null,
  deliveryUrl: '/console/deliveries/dlv_1',
};

describe('the mail of a notification', () => {
  it('holds the facts of the latest delivery in both forms', () => {
    const { text, html } = renderMail({ ...failure, temporalUrl: 'https://temporal.example/dlv_1' });
    const named = ['Orders', 'Shop', 'Acme CRM', 'evt_1', 'temporal.example/dlv_1'];
    for (const fact of [...named, '6', '503', '2026-11-21T10:05:00.000Z'])
      for (const form of [text, html]) expect(form).to.contain(fact);
  });

  it('has no link in a name', () => {
    const names = [
      ...['Visit https://evil.example/login', 'www.evil.example', 'evil.example', 'xn--80ak6aa92e.com'],
      ...['evil\u3002example', 'evil\uff0eexample', 'Ops <ops@evil.example>', 'http:\\\\evil.example'],
      ...['пример.рф', 'ftp://10.0.0.1/', 'evil.\u200bexample'],
    ];
    const link = /:[/\\]|[\p{L}\p{N}-][.\u3002\uff0e\uff61][\p{L}]/u;
    for (const name of names) {
      const { subject, text } = renderMail({ ...failure, routeName: name, sourceName: name, destinationName: name });
      expect(subject, name).to.not.match(link);
      const shown = text.split('\n').filter((line) => /^(Route|Source|Destination):/.test(line));
      expect(shown).to.have.length(3);
      for (const line of shown) expect(line.slice(12), name).to.not.match(link);
    }
    expect(renderMail({ ...failure, routeName: 'Orders v1.2, 3.5 t' }).subject).to.contain('Orders v1.2, 3.5 t');
  });

  it('says how many deliveries it tells of, and since when', () => {
    const failedBefore = { count: 3, since: '2026-11-21T09:00:00.000Z' };
    const recovery = { kind: 'recovery', failedBefore } as const;
    const circuitOpened = { ...recovery, failedBefore: { ...failedBefore, count: 0 } };
    const rows: [Partial<MailFacts>, text: string][] = [
      [{ count: 12 }, '12 deliveries from the route Orders have failed since 2026-11-21T10:00:00.000Z'],
      [recovery, 'after 3 failed deliveries since 2026-11-21T09:00:00.000Z'],
      [circuitOpened, 'the circuit breaker opened at 2026-11-21T09:00:00.000Z and is now closed'],
      [{ ...recovery, count: 2 }, '2 destinations have recovered'],
    ];
    for (const [changes, text] of rows) expect(renderMail({ ...failure, ...changes }).text).to.contain(text);
  });

  it('has the outcome in its subject', () => {
    const one = { count: 1, since: 'x' };
    const subjects: [facts: Partial<MailFacts>, subject: string, text: RegExp][] = [
      [{}, 'delivery to Acme CRM failed', /^A delivery from the route Orders failed\.$/m],
      [{ kind: 'success' }, 'delivery to Acme CRM succeeded', /^A delivery from the route Orders succeeded\.$/m],
      [{ count: 2 }, '2 deliveries failed', /^2 deliveries from/m],
      [{ kind: 'success', count: 2 }, '2 deliveries succeeded', /succeeded since/],
      [{ destinationName: null }, 'delivery failed', /^Destination: +\(deleted\)$/m],
      [{ kind: 'recovery' }, 'delivering again to Acme CRM', /^The route Orders is delivering again\.$/m],
      [{ kind: 'recovery', failedBefore: one }, 'delivering again to Acme CRM', /1 failed delivery/],
    ];
    for (const [changes, expected, text] of subjects) {
      const mail = renderMail({ ...failure, ...changes });
      expect(mail.subject).to.equal(`[Hookyard] Orders: ${expected}`);
      expect(mail.text).to.match(text);
    }
  });

  it('ends with the link that stops such mails, and consent is asked with one', () => {
    const link = 'https://hooks.example/stop?a=1&b=$&';
    const { subject, text, html } = withStopLink(renderMail(failure), link);
    expect(subject).to.equal(renderMail(failure).subject);
    expect(text.endsWith(`\nStop these emails: ${link}\n`)).to.equal(true);
    expect(html).to.include('<a href="https://hooks.example/stop?a=1&amp;b=$&amp;">Stop these emails</a></p>\n</body>');
    const expiresAt = new Date('2026-11-28T10:05:59Z');
    const asked = renderConfirmation({ organization: 'Shop', link: 'https://hooks.example/c', expiresAt });
    for (const form of [asked.text, asked.html]) {
      expect(form).to.include('https://hooks.example/c').and.include('"Shop"');
      expect(form).to.include('valid until 2026-11-28 10:05 UTC.');
    }
    expect(asked.subject).to.match(/from Shop\?$/);
  });

  it('leaves out what there is not', () => {
    const unknown = { ...facts, status_code: null, error_summary: null };
    const { text, html } = renderMail({ ...failure, sourceName: null, facts: unknown });
    expect(text).to.not.contain('Status code').and.not.contain('Error').and.not.contain('Temporal UI');
    expect(text).to.contain('(deleted)');
    expect(html).to.not.contain('null');
  });

  it('cuts long names and errors', () => {
    const long = { ...facts, error_summary: named('e'.repeat(50_000)) };
    const { subject, text } = renderMail({ ...failure, routeName: '𝕏'.repeat(5000), facts: long });
    expect(Array.from(subject).length).to.be.below(200);
    expect(subject).to.contain('𝕏…');
    expect(text.length).to.be.below(4000);
  });

  it('never lets a name or an error add a header, a line or markup', () => {
    const hostile = fc.string({
      unit: fc.constantFrom('\r', '\n', '\u2028', '\u0000', '\u202e', '<b>', '"', '&', 'Bcc: x', ' '),
    });
    fc.assert(
      fc.property(hostile, (name) => {
        const names = { routeName: name, sourceName: name, destinationName: name };
        const mail = { ...failure, ...names, facts: { ...facts, error_summary: named(name) } };
        const { subject, text, html } = renderMail(mail);
        expect(subject).to.not.match(/[\p{C}\p{Zl}\p{Zp}]/u);
        expect(text.split('\n')).to.have.length(renderMail(failure).text.split('\n').length);
        expect(text).to.not.match(/[^\P{C}\n]/u);
        expect(html).to.not.contain('<b>');
      }),
    );
  });

  it('goes to every address once', () => {
    expect(recipients(' a@x.example, b@x.example,a@x.example ')).to.deep.equal(['a@x.example', 'b@x.example']);
  });
});
