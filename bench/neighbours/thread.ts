// The thread of an attack: says when it has begun, ends it when it is told to, and says how the service answered.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { managementCaller } from '../support/call.ts';
import type { Answers, Order } from './attacker.ts';
import { ATTACKS } from './attacks.ts';
import type { Targets } from './means.ts';

const SLOW_ANSWER_MS = 10_000;

if (!parentPort) throw new Error('This file runs only as a thread of the bench');
const { attack: name, organization, apiKey } = workerData as Order;
const attack = ATTACKS.find((one) => one.name === name);
if (!attack) throw new Error(`No such attack: ${name}`);

const stop = new AbortController();
const told = once(parentPort, 'message').then(() => stop.abort());
const answers: Answers = new Map();
const run = await attack.prepare({
  service: { ...organization, call: managementCaller(organization.url, apiKey) },
  targets: await startTargets(),
  stopped: stop.signal,
  answered: (answer) => void answers.set(answer, (answers.get(answer) ?? 0) + 1),
});
parentPort.postMessage('begun');
// An attack continues until it is stopped; one that fails ends the thread.
await Promise.all([run(), told]);
parentPort.postMessage(answers);

/** They end with the thread. */
async function startTargets(): Promise<Targets> {
  const quick = await listen((request, response) => request.resume().on('end', () => response.end('ok')));
  const slow = await listen((request, response) => {
    request.resume();
    setTimeout(() => response.end('ok'), SLOW_ANSWER_MS);
  });
  const dead = await listen(() => {});
  const urls = { quick: urlOf(quick), slow: urlOf(slow), dead: urlOf(dead) };
  await new Promise((resolve) => dead.close(resolve));
  return urls;
}

async function listen(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

// Hoisted: it is called while the module still waits for the attack.
function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}
