import { expect } from 'chai';
import fc from 'fast-check';
import { AUTH_TYPES, authConfigSchemas } from '../../core/delivery/auth-config.ts';
import {
  AUTH_SECRET_FIELD,
  isRedacted,
  keepRedacted,
  keepRedactedAuthConfig,
  keepsAuthSecret,
  maskHeaders,
  maskTexts,
  redactAuthConfig,
  redactSecret,
} from '../../core/text/redaction.ts';

describe('redactSecret', () => {
  it('shows four bullets and the last 4 characters, of a short value the bullets alone', () => {
    expect(redactSecret('wJalrXUtnFEMI/K7MDENG')).to.equal('••••DENG');
    expect(redactSecret('12345678')).to.equal('••••5678');
    expect(redactSecret('1234567')).to.equal('••••');
    expect(redactSecret('')).to.equal('••••');
    expect(redactSecret('🔑🔑🔑🔑🔒🔒🔒🔒')).to.equal('••••🔒🔒🔒🔒');
    expect(redactSecret('🔑🔑🔑🔑')).to.equal('••••');
  });

  it('is recognised when it comes back', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (secret) => isRedacted(redactSecret(secret))));
    for (const text of ['', '•••', '••••12', '••••12345', 'secret', 'a••••1234'])
      expect(isRedacted(text), text).to.equal(false);
  });
});

describe('keepRedacted', () => {
  it('keeps the stored value for a redacted one and takes any other', () => {
    expect(keepRedacted('••••DENG', 'stored')).to.deep.equal({ ok: true, value: 'stored' });
    expect(keepRedacted('••••', '')).to.deep.equal({ ok: true, value: '' });
    expect(keepRedacted('new', 'stored')).to.deep.equal({ ok: true, value: 'new' });
    expect(keepRedacted('new', undefined)).to.deep.equal({ ok: true, value: 'new' });
  });

  it('refuses a new value that was typed behind the redacted one', () => {
    for (const text of ['••••DENGnew', '••••a', '•••••'])
      expect(keepRedacted(text, 'stored'), text).to.deep.equal({ ok: false });
  });

  it('says so when there is nothing behind a redacted value', () => {
    for (const nothing of [undefined, null]) expect(keepRedacted('••••DENG', nothing)).to.deep.equal({ ok: false });
  });
});

it('an update keeps the secret that it leaves out or sends back redacted', () => {
  const rows: [...Parameters<typeof keepsAuthSecret>, boolean][] = [
    ['bearer', undefined, true],
    ['bearer', { token: '••••1234' }, true],
    ['bearer', { token: 'new' }, false],
    ['bearer', {}, false],
    ['basic', { password: '••••' }, true],
    ['none', undefined, false],
  ];
  for (const [type, sent, keeps] of rows)
    expect(keepsAuthSecret(type, sent), `${type} ${JSON.stringify(sent)}`).to.equal(keeps);
});

it('texts are shown without secrets', () => {
  expect(maskTexts('a=secret&b=secret&c=other', ['secret', '', 'other'])).to.equal('a=••••&b=••••&c=••••');
});

describe('authConfig', () => {
  const examples = {
    none: {},
    basic: { username: 'hookyard', password: 'correct horse' },
    bearer: { token: 'abcdefghijkl' },
    api_key: { headerName: 'X-Api-Key', key: 'abcdefghijkl' },
    custom_header: { headerName: 'X-Custom', headerValue: 'abcdefghijkl' },
  } as const;

  for (const type of AUTH_TYPES) {
    it(`of type ${type} is accepted whole, shown without its secret, and restored from what was shown`, () => {
      const config: Record<string, string> = { ...examples[type] };
      expect(authConfigSchemas[type].parse(config)).to.deep.equal(config);
      for (const name of Object.keys(config)) {
        expect(authConfigSchemas[type].safeParse({ ...config, [name]: undefined }).success, name).to.equal(false);
      }
      const field = AUTH_SECRET_FIELD[type];
      const shown = redactAuthConfig(type, config);
      if (field !== null) expect(shown).to.deep.equal({ ...config, [field]: redactSecret(config[field] ?? '') });
      expect(keepRedactedAuthConfig(type, shown, config)).to.deep.equal({ ok: true, config });
      if (field !== null) expect(keepRedactedAuthConfig(type, shown, null)).to.deep.equal({ ok: false, field });
    });
  }

  it('refuses headers that cannot be sent', () => {
    const wrong = {
      api_key: { headerName: 'Host', key: 'k' },
      custom_header: { headerName: 'X-A', headerValue: 'a\r\nB: c' },
      bearer: { token: 'a\nb' },
      basic: { username: 'a:b', password: 'c' },
    };
    for (const [type, config] of Object.entries(wrong) as [keyof typeof wrong, object][])
      expect(authConfigSchemas[type].safeParse(config).success, type).to.equal(false);
  });

  it('shows nothing of a destination without credentials', () => {
    expect(redactAuthConfig('bearer', null)).to.deep.equal({});
  });
});

describe('maskHeaders', () => {
  it('masks whole what proves an identity, by name or because it is said to be secret', () => {
    const secret = [
      ...['Authorization', 'Proxy-Authorization', 'Cookie', 'Set-Cookie', 'webhook-signature', 'X-Hub-Signature-256'],
      ...['Stripe-Signature', 'X-Api-Key', 'apikey', 'X-Access-Token', 'X-Gitlab-Token', 'X-Client-Secret', 'X-Auth'],
      ...['X-Shopify-Hmac-Sha256', 'X-Mine'],
    ];
    for (const name of secret) {
      expect(maskHeaders({ [name]: 'value-1234' }, ['x-mine']), name).to.deep.equal({ [name]: '••••' });
    }
  });

  it('leaves the others as they are', () => {
    const names = [
      ...['Content-Type', 'User-Agent', 'X-Hookyard-Event-Id', 'Idempotency-Key'],
      ...['X-Keyboard', 'X-Author', 'webhook-id'],
    ];
    const plain = Object.fromEntries(names.map((name) => [name, 'value-1234']));
    expect(maskHeaders(plain)).to.deep.equal(plain);
  });
});
