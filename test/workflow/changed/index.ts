// Workflows that break with the recorded histories on purpose: they show that the replay tests can fail.
import { sleep } from '@temporalio/workflow';
import type { MessageOutcome, MessageRequest, Repairs } from '../../../activities/types.ts';
import type { ReplayProgress } from '../../../core/delivery/event-replay.ts';
import { circuit as originalCircuit } from '../../../workflows/circuit.ts';
import { delivery as original } from '../../../workflows/delivery.ts';
import { maintenance as originalMaintenance } from '../../../workflows/maintenance.ts';
import { message as originalMessage } from '../../../workflows/message.ts';
import type {
  CircuitInput,
  DeliveryInput,
  DeliveryResult,
  ReconcileInput,
  ReplayInput,
  WarehouseInput,
} from '../../../workflows/messages.ts';
import { reconcile as originalReconcile } from '../../../workflows/reconcile.ts';
import { replay as originalReplay } from '../../../workflows/replay.ts';
import { warehouseFlush as originalFlush } from '../../../workflows/warehouse-flush.ts';

export async function delivery(input: DeliveryInput): Promise<DeliveryResult> {
  await sleep(1000);
  return original(input);
}

export async function circuit(input: CircuitInput): Promise<void> {
  await sleep(1000);
  return originalCircuit(input);
}

export async function maintenance(): Promise<void> {
  await sleep(1000);
  return originalMaintenance();
}

export async function message(request: MessageRequest): Promise<MessageOutcome> {
  await sleep(1000);
  return originalMessage(request);
}

export async function reconcile(input: ReconcileInput = {}): Promise<Repairs> {
  await sleep(1000);
  return originalReconcile(input);
}

export async function replay(input: ReplayInput): Promise<ReplayProgress> {
  await sleep(1000);
  return originalReplay(input);
}

export async function warehouseFlush(input: WarehouseInput): Promise<void> {
  await sleep(1000);
  return originalFlush(input);
}
