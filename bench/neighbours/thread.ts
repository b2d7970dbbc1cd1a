// The thread of an attack: says when it has begun, ends it when it is told to, and says how the service answered.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { managementCaller } from '../support/call.ts';
import type { Answers, Order } from './attacker.ts';
import { ATTACKS } from './attacks.ts';
import { startTargets } from './targets.ts';

if (!parentPort) throw new Error('This runs as a thread of the bench.');
const { attack: name, organization, apiKey } = workerData as Order;
const attack = ATTACKS.find((one) => one.name === name);
if (!attack) throw new Error(`There is no attack "${name}".`);

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
