// The description of the API: every operation is in it, it is served, and its copy in docs/ is up to date. That it is
// true is proved by every other test: the client in test/support compares each answer with it.
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect } from 'chai';
import { openRouter, operatorRouter } from '../../api/service/app.ts';
import { INGEST_METHODS } from '../../api/ingest/ingest.ts';
import { CachedProbe } from '../../core/process/poll-loop.ts';
import { TUNING } from '../../core/config/tuning.ts';
import type { StatusDeps } from '../../api/resources/organization/status.ts';
import { CHECKED_IN, checkedInText } from '../../api/openapi/write.ts';
import { describedOperations } from '../support/providers/described.ts';
import { managementEndpoints } from '../support/requests/endpoints.ts';
import { send } from '../support/requests/http-client.ts';
import { sharedService } from '../support/service.ts';
import { useMade } from '../support/use-hookyard.ts';

/** Why a rule of Redocly's recommended set is off. */
const RULES_OFF = {
  // An operation has a client error where a client can make one; the probes and the description itself take nothing.
  'operation-4xx-response': 'off',
  // /events/replays/{id} and /events/{id}/payload could both be meant by /events/replays/payload only, which is no id.
  'no-ambiguous-paths': 'off',
} as const;

describe('The description of the API', () => {
  it('has every operation of the routers, and no other', () => {
    const server = new CachedProbe(() => Promise.resolve(null));
    const health = {
      ending: () => false,
      ingestState: () => 'open' as const,
      database: server,
      temporal: server,
      searchAttributes: server,
      lanes: { within: async () => undefined },
    };
    const operator = operatorRouter({ settings: {}, tuning: TUNING, health } as unknown as StatusDeps);
    const open = [openRouter({ health }), operator]
      .flatMap(({ stack }) => stack)
      .flatMap((layer) =>
        layer.methods
          .filter((method) => method !== 'HEAD')
          .map((method) => `${method} ${String(layer.path).replace(/:(\w+)/g, '{$1}')}`),
      );
    // Mounted with the console, and takes no key.
    const signIn = 'POST /api/auth/sign-in';
    const management = managementEndpoints().map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    const ingest = INGEST_METHODS.flatMap((method) => [
      `${method} /ingest/{orgSlug}/{sourceSlug}`,
      `${method} /ingest/{orgSlug}/{sourceSlug}/{token}`,
    ]);
    expect(describedOperations().toSorted()).to.deep.equal([...open, signIn, ...management, ...ingest].toSorted());
  });

  it('is what docs/openapi.json holds', () => {
    const same = readFileSync(CHECKED_IN, 'utf8') === checkedInText();
    expect(same, 'docs/openapi.json is out of date: run npm run openapi, and look at what changed').to.equal(true);
  });

  it("passes Redocly's recommended rules", async () => {
    const config = await createConfig({ extends: ['recommended'], rules: RULES_OFF });
    const problems = await lintFromString({ source: checkedInText(), absoluteRef: CHECKED_IN, config });
    const told = problems.map(
      ({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer ?? '?'}: ${message}`,
    );
    expect(told).to.deep.equal([]);
  });

  it('is of the form that generators of clients take', () => {
    const { components, paths } = JSON.parse(checkedInText());
    const told: string[] = [];
    for (const name of Object.values(components as Record<string, object>).flatMap(Object.keys))
      if (!/^[A-Z][A-Za-z0-9]*$/.test(name) && !['apiKey', 'apiKeyHeader', 'operatorKey'].includes(name))
        told.push(`name ${name}`);
    const look = (value: unknown, at: string[]): void => {
      if (typeof value !== 'object' || value === null) return;
      const { type, properties, enum: values, anyOf, oneOf } = value as Record<string, unknown[] | undefined>;
      const isComponent = at.length === 3 && at[1] === 'schemas';
      if (Array.isArray(type)) told.push(`a list of types at ${at.join('/')}`);
      if (properties && String(type) === 'object' && !isComponent) told.push(`an object at ${at.join('/')}`);
      if (Array.isArray(values) && values.length > 1 && !isComponent) told.push(`an enumeration at ${at.join('/')}`);
      for (const choice of [...(anyOf ?? []), ...(oneOf ?? [])] as { type?: string }[])
        if (choice.type === 'object') told.push(`an object as a choice at ${at.join('/')}`);
      for (const [key, part] of Object.entries(value)) if (!/^examples?$/.test(key)) look(part, [...at, key]);
    };
    look(components, ['components']);
    look(paths, ['paths']);
    for (const response of Object.values(components.responses as Record<string, { content: object }>))
      expect(response.content).to.have.nested.property('application/json.schema.$ref', '#/components/schemas/Error');
    expect(told).to.deep.equal([]);
  });

  describe('as it is served', () => {
    const api = useMade('the API', () => sharedService('api'));
    const get = (path: string) => fetch(api.url + path, { redirect: 'manual' });
    // Not by fetch, which asks for a fresh answer as soon as it is given a condition.
    async function statusWhenKnown(path: string, { headers }: Response): Promise<number> {
      const etag = headers.get('etag') ?? 'none';
      return (await send('GET', api.url + path, { 'If-None-Match': etag })).status;
    }

    it('is at /openapi.json, without credentials', async () => {
      const answer = await get('/openapi.json');
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect(await answer.json()).to.deep.equal(JSON.parse(checkedInText()));
      expect(await statusWhenKnown('/openapi.json', answer)).to.equal(304);
    });

    it('is a page at /docs that loads what it needs from here, and nothing else', async () => {
      const page = await get('/docs');
      expect(page.status).to.equal(200);
      expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).to.include("default-src 'none'").and.to.include("script-src 'self'");
      expect(policy).not.to.match(/unsafe|https?:|\*/);
      const html = await page.text();
      expect(html).not.to.match(/https?:\/\/|<script>|<style|\son\w+=/);
      const linked = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);
      expect(linked).to.have.lengthOf(5);
      for (const address of linked) {
        const path = new URL(address, `${api.url}/docs`).href.slice(api.url.length);
        const file = await get(path);
        expect(file.status, address).to.equal(200);
        expect((await file.arrayBuffer()).byteLength, address).to.be.greaterThan(100);
        const caching = address.includes('?v=') ? 'public, max-age=31536000, immutable' : 'no-cache';
        expect(file.headers.get('cache-control'), address).to.equal(caching);
        expect(await statusWhenKnown(path, file), address).to.equal(304);
      }
    });

    it('does not serve other files of the package, or beside it', async () => {
      for (const name of [
        'swagger-ui.js',
        'index.html',
        'package.json',
        '..%2fpackage.json',
        '%2e%2e',
        'constructor',
      ]) {
        expect((await get(`/docs/${name}`)).status, name).to.equal(404);
      }
      const slash = await get('/docs/');
      expect([slash.status, slash.headers.get('location')]).to.deep.equal([302, '../docs']);
    });
  });
});
