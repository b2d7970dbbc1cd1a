import { expect } from 'chai';
import {
  buildOutboundRequest,
  MissingCredentialsError,
  type OutboundInput,
} from '../../outbound/http/outbound-request.ts';
import type { AuthType } from '../../core/delivery/auth-config.ts';
import type { ForwardHeaders } from '../../core/ingest/forwarded-headers.ts';
import { outboundInput } from './outbound-inputs.ts';

const input = (
  destination: Partial<OutboundInput['destination']> = {},
  rest: Partial<OutboundInput> = {},
): OutboundInput =>
  outboundInput(destination, {
    event: {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      headers: { 'content-type': 'application/json', 'user-agent': 'GitHub-Hookshot/1', 'x-github-event': 'push' },
      address: { path: '', query: '' },
      body: Buffer.from('{"test": 2432232314}'),
    },
    ...{ attempt: 2, source: { slug: 'github-prod' }, nowMs: 1614265330_999 },
    ...rest,
  });

const own = {
  'User-Agent': 'Hookyard/0.1.0',
  'X-Hookyard-Event-Id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'X-Hookyard-Delivery-Id': 'dlv_1',
  'X-Hookyard-Attempt': '2',
  'X-Hookyard-Source': 'github-prod',
  'X-Hookyard-Hops': '1',
};

describe('outbound request', () => {
  it("carries the body as received, the received headers and Hookyard's own", () => {
    const built = buildOutboundRequest(input({ method: 'PUT' }));
    expect(built).to.deep.equal({
      method: 'PUT',
      url: 'https://crm.example/hook',
      target: null,
      body: Buffer.from('{"test": 2432232314}'),
      headers: { 'content-type': 'application/json', 'x-github-event': 'push', ...own },
      maskedHeaders: { 'content-type': 'application/json', 'x-github-event': 'push', ...own },
    });
  });

  it('does not pass on what a sender claims in the name of this service', () => {
    const headers = {
      'x-hookyard-event-id': 'evt_forged',
      'x-hookyard-failover': 'true',
      'x-hookyard-original-destination': 'dst_forged',
      'x-hookyard-failure-reason': 'forged',
      'x-hookyard-color': 'green',
    };
    const built = buildOutboundRequest(input({}, { event: { ...input().event, headers } }));
    expect(built.headers).to.deep.equal(own);
    const x = buildOutboundRequest(input({}, { event: { ...input().event, headers }, headerPrefix: 'X-' }));
    expect(x.headers, 'a prefix that begins the headers of others too').to.include({ 'x-hookyard-color': 'green' });
  });

  describe('tells of the trace of its event', () => {
    const [made, span, sent] = ['ab', 'cd', 'ef'].map((byte) => `00-${byte.repeat(16)}-${byte.repeat(8)}-01`);
    const told = (
      forwardHeaders: ForwardHeaders,
      rest: Partial<OutboundInput>,
      headers: Record<string, string> = {},
    ) => {
      const event = { ...input().event, headers: { ...input().event.headers, ...headers } };
      const { headers: built } = buildOutboundRequest(input({ forwardHeaders }, { event, ...rest }));
      return [built.traceparent, built.tracestate];
    };

    it('as forwardHeaders says, where it was made for a webhook without one', () => {
      const rest = { eventTraceparent: made ?? '' };
      const invalid = { traceparent: 'nonsense', tracestate: 'a=1' };
      for (const choice of [null, 'all', ['x-github-event', 'Traceparent']] as const) {
        expect(told(choice, rest), String(choice)).to.deep.equal([made, undefined]);
        expect(told(choice, rest, invalid), String(choice)).to.deep.equal([made, undefined]);
      }
      for (const choice of ['none', ['x-github-event']] as const)
        expect(told(choice, rest, invalid), String(choice)).to.deep.equal([undefined, undefined]);
    });

    it('in any case, where this attempt is recorded', () => {
      const rest = { eventTraceparent: made ?? '', spanTraceparent: span ?? '' };
      for (const choice of [null, 'none'] as const) expect(told(choice, rest)).to.deep.equal([span, undefined]);
    });

    it('as the sender said it, where it has one', () => {
      const headers = { traceparent: sent ?? '', tracestate: 'a=1' };
      expect(told(null, { eventTraceparent: null }, headers)).to.deep.equal([sent, 'a=1']);
      expect(told('none', { eventTraceparent: null }, headers)).to.deep.equal([undefined, undefined]);
    });
  });

  it('lets later headers win: received, own, destination, authentication, signature', () => {
    const built = buildOutboundRequest(
      input(
        {
          headers: { 'USER-AGENT': 'crm', 'X-Github-Event': 'other', authorization: 'ours', 'webhook-id': 'ours' },
          authType: 'bearer',
          authConfig: { token: 'abc' },
          signingSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        },
        { event: { ...input().event, headers: { 'webhook-signature': 'v1,theirs', 'X-GITHUB-EVENT': 'push' } } },
      ),
    );
    const { 'User-Agent': _userAgent, ...rest } = own;
    expect(built.headers).to.deep.equal({
      ...rest,
      'USER-AGENT': 'crm',
      'X-Github-Event': 'other',
      Authorization: 'Bearer abc',
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
    expect(built.maskedHeaders).to.include({ Authorization: '••••', 'webhook-signature': '••••', 'USER-AGENT': 'crm' });
  });

  const auths: [AuthType, Record<string, string>, Record<string, string>][] = [
    ['none', {}, {}],
    // RFC 7617, section 2 and 2.1.
    [
      'basic',
      { username: 'Aladdin', password: 'open sesame' },
      { Authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' },
    ],
    ['basic', { username: 'test', password: '123£' }, { Authorization: 'Basic dGVzdDoxMjPCow==' }],
    ['bearer', { token: 'abc' }, { Authorization: 'Bearer abc' }],
    ['api_key', { headerName: 'X-Mine', key: 'abc' }, { 'X-Mine': 'abc' }],
    ['custom_header', { headerName: 'X-Mine', headerValue: 'abc' }, { 'X-Mine': 'abc' }],
  ];
  for (const [authType, authConfig, wanted] of auths) {
    it(`authenticates with ${authType} ${JSON.stringify(authConfig)} and records it masked`, () => {
      const built = buildOutboundRequest(input({ authType, authConfig }));
      expect(built.headers).to.include(wanted);
      for (const name of Object.keys(wanted)) expect(built.maskedHeaders[name]).to.equal('••••');
      expect(Object.keys(built.headers)).to.have.length(8 + Object.keys(wanted).length);
    });

    it(`refuses ${authType} without its ${Object.keys(authConfig).join(' or ') || '(nothing)'}`, () => {
      for (const name of Object.keys(authConfig)) {
        const { [name]: _missing, ...partial } = authConfig;
        const build = (): unknown => buildOutboundRequest(input({ authType, authConfig: partial }));
        expect(build, name).to.throw(MissingCredentialsError, `authConfig has no ${name}`);
      }
      const build = (): unknown => buildOutboundRequest(input({ authType, authConfig: null }));
      if (authType === 'none') expect(build).not.to.throw();
      else expect(build).to.throw(MissingCredentialsError);
    });
  }

  it('tells a failover destination that it is one, for whom, and why, on one line', () => {
    const failover = { originalDestination: 'dst_1', failureReason: `answered 500\r\nX-Evil: 1 ☃ ${'x'.repeat(400)}` };
    const { headers } = buildOutboundRequest(input({}, { failover }));
    expect(headers).to.include({ 'X-Hookyard-Failover': 'true', 'X-Hookyard-Original-Destination': 'dst_1' });
    expect(headers['X-Hookyard-Failure-Reason'])
      .to.match(/^answered 500 X-Evil: 1 x+$/)
      .and.have.length(256);
  });

  it('counts the hops on, whatever the destination says about that', () => {
    const event = { ...input().event, headers: { 'x-hookyard-hops': '3' } };
    const { headers } = buildOutboundRequest(
      input({ headers: { 'x-hookyard-hops': '0' }, forwardHeaders: 'none' }, { event }),
    );
    expect(headers).to.include({ 'X-Hookyard-Hops': '4' }).and.not.have.property('x-hookyard-hops');
  });

  it('is signed with both secrets while one is being rotated, the new one first', () => {
    const signing = {
      signingSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      previousSigningSecret: `whsec_${Buffer.alloc(24, 'o').toString('base64')}`,
      previousSigningSecretUntil: input().nowMs + 1,
    };
    const signatures = (destination: Partial<OutboundInput['destination']>) =>
      (buildOutboundRequest(input(destination)).headers['webhook-signature'] ?? '').split(' ');
    const [current, previous, ...more] = signatures(signing);
    expect(more).to.deep.equal([]);
    expect([current]).to.deep.equal(signatures({ signingSecret: signing.signingSecret }));
    expect([previous]).to.deep.equal(signatures({ signingSecret: signing.previousSigningSecret }));
    expect(signatures({ ...signing, previousSigningSecretUntil: input().nowMs })).to.deep.equal([current]);
  });

  it('takes its header names from the configured prefix', () => {
    const { headers } = buildOutboundRequest(input({}, { headerPrefix: 'X-Relay-' }));
    expect(headers).to.include({ 'X-Relay-Event-Id': 'msg_p5jXN8AQM9LWM0D4loKWxJek', 'X-Relay-Attempt': '2' });
    // The count of hops is for other Hookyards, whatever their prefix.
    expect(Object.keys(headers).filter((name) => name.startsWith('X-Hookyard'))).to.deep.equal(['X-Hookyard-Hops']);
  });
});
