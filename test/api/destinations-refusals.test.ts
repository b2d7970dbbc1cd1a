// What is refused when a destination is created.
import { type Answer, expectInvalid } from '../support/api-client.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const url = 'https://receiver.example/hooks';

describe('Refused destinations', () => {
  const organization = useOrganization();
  const post = (body: object): Promise<Answer> => organization.api.request('POST', '/api/destinations', body);

  const badUrls = [
    '',
    'receiver.example',
    'ftp://receiver.example',
    'http:receiver',
    'https://',
    'https://u:p@receiver.example',
    'https://a b.example',
    'https://receiver.example/\n',
    'javascript:alert(1)',
    `https://receiver.example/${'x'.repeat(2048)}`,
  ];
  for (const bad of badUrls) {
    it(`answers 400 INVALID_URL to ${JSON.stringify(bad).slice(0, 40)} in both families`, async () => {
      expectInvalid(await post({ name: 'x', url: bad }), 'url', 'INVALID_URL');
      const scoped = await organization.api.request('POST', `${organization.base}/destinations`, {
        name: 'x',
        url: bad,
      });
      expectInvalid(scoped, 'url', 'INVALID_URL');
    });
  }

  const wrong: [string, object, string][] = [
    ['a Host header', { Host: 'evil' }, 'headers.Host'],
    ['a Transfer-Encoding header', { 'transfer-encoding': 'x' }, 'headers.transfer-encoding'],
    ['a header value with a line break', { 'X-A': 'a\r\nX-B: c' }, 'headers.X-A'],
    ['a header value that is no text', { 'X-A': 5 }, 'headers.X-A'],
  ];
  for (const [what, headers, path] of wrong) {
    it(`answers 400 to ${what}`, async () => {
      expectInvalid(await post({ name: 'x', url, headers }), path);
    });
  }
});
