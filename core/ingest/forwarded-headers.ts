// Which received headers travel on to a destination. A webhook's sender is a stranger: what it sends must not steer the
// servers behind a destination, or speak for the proxies in front of them.
import { CONNECTION_HEADERS, foldedName, HOPS_HEADER } from '../http/headers.ts';

/**
 * What a destination gets: `all` that may travel, `none`, the headers of these names; null: all but those that steer
 * servers.
 */
export type ForwardHeaders = 'all' | 'none' | readonly string[] | null;

// Credentials meant for this service, the encodings that the sender accepts, and what Hookyard sets itself.
const NEVER: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  'accept-encoding',
  'authorization',
  'cookie',
  HOPS_HEADER.toLowerCase(),
]);

// Read by servers and frameworks as the method, address or file of the request, in place of what it really has: Rails,
// Express, Symfony, ASP.NET (method), IIS, Symfony, Zend (address), Rack and nginx (files), Envoy, Next.js (its
// middleware and its router).
const STEERING = [
  ...['x-http-method', 'x-http-method-override', 'x-method-override'],
  ...['x-original-*', 'x-rewrite-url', 'x-host', 'x-http-host-override', 'x-url-scheme', 'front-end-https'],
  ...['x-accel-*', 'x-sendfile-type', 'x-envoy-*', 'x-middleware-*', 'x-matched-path', 'x-invoke-*', 'x-now-*'],
];

// Written by proxies and networks: the address of the client, and what they are asked to believe of it.
const CLIENT_ADDRESS = [
  ...['forwarded', 'x-forwarded', 'x-forwarded-*', 'x-forward-for', 'x-real-ip', 'true-client-ip', 'client-ip'],
  ...['x-client-ip', 'x-cluster-client-ip', 'x-proxyuser-ip', 'wl-proxy-*', 'fastly-client-ip', 'fly-client-ip'],
  ...['fly-forwarded-*', 'do-connecting-ip', 'x-nf-client-connection-ip', 'incap-client-ip', 'x-sucuri-clientip'],
  ...['cf-connecting-ip', 'cf-connecting-ipv6', 'cf-pseudo-ipv4', 'cloudfront-viewer-*', 'x-appengine-*'],
  ...['x-azure-clientip', 'x-azure-socketip', 'x-azure-fdid', 'x-vercel-*'],
];

// Written by proxies that sign users in: CGI, Grafana, oauth2-proxy, Authelia, authentik, Pomerium, Vouch, Kong, IBM,
// SiteMinder, mod_auth_openidc, Shibboleth, Traefik's plugins, gatekeepers of OpenID Connect, TLS terminators,
// Kubernetes, and those of AWS, Azure, Cloudflare, Google, Tailscale, Teleport.
const IDENTITY = [
  ...['remote-*', 'x-remote-*', 'impersonate-*', 'x-webauth-*', 'x-auth-request-*', 'x-auth-email', 'x-auth-userid'],
  ...['x-auth-user', 'x-auth-username', 'x-auth-groups', 'x-auth-roles', 'x-auth-subject', 'x-userinfo', 'x-id-token'],
  ...['x-access-token', 'shib-*'],
  ...['x-authenticated-*', 'x-authentik-*', 'x-pomerium-*', 'x-vouch-*', 'x-consumer-*', 'x-credential-*'],
  ...['x-anonymous-consumer', 'iv-user', 'iv-groups', 'iv-creds', 'sm-user', 'oidc-*'],
  ...['ssl-client-*', 'x-ssl-client-*', 'x-client-cert', 'x-client-cert-*', 'x-arr-clientcert'],
  ...['x-amzn-oidc-*', 'x-amzn-mtls-*', 'x-ms-client-principal', 'x-ms-client-principal-*', 'x-ms-token-aad-*'],
  ...['cf-access-*', 'x-goog-authenticated-user-*', 'x-goog-iap-*', 'x-apigateway-api-userinfo'],
  ...['x-endpoint-api-userinfo', 'tailscale-*', 'teleport-jwt-assertion'],
];

// Of Standard Webhooks: Hookyard signs with them, so a receiver takes them for Hookyard's word.
const SIGNATURES = ['webhook-*'];

// What a provider signs its webhooks with (providers/), though it is named like what its servers write.
const OF_PROVIDERS: ReadonlySet<string> = new Set(['x-vercel-signature']);

const LISTED = [...STEERING, ...CLIENT_ADDRESS, ...IDENTITY, ...SIGNATURES];
const IS_LISTED = new RegExp(`^(?:${LISTED.join('|').replaceAll('*', '.*')})$`);

// Without them the body cannot be read.
const OF_THE_BODY = ['content-type', 'content-encoding'];

/** Whether a header of this name is never forwarded, whatever a destination says. */
export function isNeverForwarded(name: string): boolean {
  const folded = foldedName(name);
  return NEVER.has(folded) || folded.startsWith('proxy-');
}

function steersServers(name: string): boolean {
  const folded = foldedName(name);
  return IS_LISTED.test(folded) && !OF_PROVIDERS.has(folded);
}

/**
 * The received headers that a destination gets. Those that the `Connection` header names belong to the connection too.
 */
export function forwardableHeaders(
  received: Readonly<Record<string, string>>,
  choice: ForwardHeaders,
): Record<string, string> {
  const forwarded = Object.create(null) as Record<string, string>;
  const ofConnection = namedByConnection(received);
  const travels = isChosen(choice);
  for (const [name, value] of Object.entries(received)) {
    if (!isNeverForwarded(name) && travels(name) && !ofConnection.has(name.toLowerCase())) forwarded[name] = value;
  }
  return forwarded;
}

export const isForwarded = (name: string, choice: ForwardHeaders): boolean =>
  !isNeverForwarded(name) && isChosen(choice)(name);

function isChosen(choice: ForwardHeaders): (name: string) => boolean {
  if (choice === null) return (name) => !steersServers(name);
  if (choice === 'all') return () => true;
  const names = choice === 'none' ? [] : choice.map((name) => name.toLowerCase());
  const chosen = new Set([...OF_THE_BODY, ...names]);
  return (name) => chosen.has(name.toLowerCase());
}

function namedByConnection(received: Readonly<Record<string, string>>): Set<string> {
  const [, value = ''] = Object.entries(received).find(([name]) => name.toLowerCase() === 'connection') ?? [];
  const names = value.split(',').map((part) => part.trim().toLowerCase());
  return new Set(names.filter((name) => name !== ''));
}
