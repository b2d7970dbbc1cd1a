// What clouds answer to a process that asks who it is, as their documentation says: credentials of containers and
// instances, STS, Google's metadata server, and the identity endpoint of Azure App Service.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { httpServer } from '../../http/servers.ts';

export interface Cloud {
  url: string;
  /** `host:port` */
  address: string;
  /** What was asked: the path, the form of a POST to STS, and who asked. */
  asked: { path: string; form: URLSearchParams; headers: IncomingMessage['headers'] }[];
  /** STS answers this code from now on; null: credentials. */
  refuse(code: string | null): void;
}

export const ROLE = 'arn:aws:iam::123456789012:role/hookyard';
export const STS_WORDS = 'User arn:aws:sts::999999999999:assumed-role/operator/x may not do this';

/** Starts it; `closeAll` ends it. @param keys the credentials that it gives */
export async function startCloud(keys: { accessKeyId: string; secretAccessKey: string }): Promise<Cloud> {
  const asked: Cloud['asked'] = [];
  let refusal: string | null = null;
  const expires = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, '');
  const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey } = keys;
  const credentials = { Code: 'Success', AccessKeyId, SecretAccessKey, Token: 'session', Expiration: expires };

  function answerOf(
    path: string,
    form: URLSearchParams,
  ): [body: string, headers?: Record<string, string>, status?: number] {
    const action = form.get('Action');
    if (action !== null && refusal !== null) return [refused(refusal), {}, 403];
    if (action !== null) return [assumed(action, keys, expires)];
    switch (path) {
      case '/container':
        return [JSON.stringify(credentials)];
      case '/latest/api/token':
        return ['imds-token', { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' }];
      case '/latest/meta-data/iam/security-credentials/':
        return ['instance-role'];
      case '/latest/meta-data/iam/security-credentials/instance-role':
        return [JSON.stringify(credentials)];
      case '/computeMetadata/v1/instance/service-accounts/default/token':
        return [JSON.stringify({ access_token: 'google-token', expires_in: 3599, token_type: 'Bearer' }), GOOGLE];
      case '/azure':
        return [
          JSON.stringify({ access_token: 'azure-token', expires_on: String(Math.round(Date.now() / 1000) + 3600) }),
        ];
      default:
        return ['not here', GOOGLE, 404];
    }
  }

  const port = await httpServer((request: IncomingMessage, response: ServerResponse) => {
    void text(request).then((body) => {
      const { pathname: path } = new URL(request.url ?? '/', 'http://cloud');
      const form = new URLSearchParams(body);
      asked.push({ path, form, headers: request.headers });
      const [answer, headers = {}, status = 200] = answerOf(path, form);
      response.writeHead(status, headers).end(answer);
    });
  });
  const address = `127.0.0.1:${port}`;
  return {
    ...{ url: `http://${address}`, address, asked },
    refuse(code) {
      refusal = code;
    },
  };
}

const GOOGLE = { 'metadata-flavor': 'Google', 'content-type': 'application/json' };

function assumed(action: string, keys: { accessKeyId: string; secretAccessKey: string }, expires: string): string {
  return `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result>
    <AssumedRoleUser><Arn>${ROLE}/x</Arn><AssumedRoleId>AROA:x</AssumedRoleId></AssumedRoleUser>
    <Credentials><AccessKeyId>${keys.accessKeyId}</AccessKeyId><SecretAccessKey>${keys.secretAccessKey}</SecretAccessKey>
    <SessionToken>session</SessionToken><Expiration>${expires}</Expiration></Credentials>
    </${action}Result><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></${action}Response>`;
}

const refused = (code: string): string =>
  `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code>
  <Message>${STS_WORDS}</Message></Error><RequestId>1</RequestId></ErrorResponse>`;
