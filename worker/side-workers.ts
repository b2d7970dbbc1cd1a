// The Temporal workers beside the main one: mails, alerts, replays and files of warehouses, each with slots of its own.
import { recipientRule } from '../core/notify-recipients.ts';
import { workflowLinks } from '../core/temporal-link.ts';
import { operatorAccess } from '../core/warehouse/operator-access.ts';
import { startAlerts } from './alerts.ts';
import { startEventReplays } from './event-replays.ts';
import { peopleLinks, startNotifications } from './notifications.ts';
import type { RunningWorker } from './temporal-worker.ts';
import { startWarehouseFlushes } from './warehouse-flushes.ts';
import { version, type WorkerContext, type WorkerParts } from './worker-parts.ts';

export async function startSideWorkers(
  { settings, tuning, env, temporal }: WorkerContext,
  parts: WorkerParts,
): Promise<RunningWorker[]> {
  const { client, hotPool, pool, warehousePool, organizations, alone, places } = parts;
  const common = { ...parts.common, workers: () => places.workers };
  const { secretBox, issues, sender, reach, configs, transforms, compute } = parts;
  const workflowLink = workflowLinks(settings, temporal);
  const rule = () => recipientRule(settings.HOOKYARD_NOTIFY_RECIPIENTS, organizations.areSeveral());
  const mails = { ...common, client, pool, secretBox, settings, recipientRule: rule };
  const flushPools = { hotPool, pool: warehousePool, commandPool: pool };
  return [
    await startNotifications({ ...mails, workflowLink, issues }),
    await startAlerts({ ...mails, sender, version, ...peopleLinks(settings) }),
    await startEventReplays({ ...common, client, pool, compute, settings }),
    await startWarehouseFlushes({
      ...common,
      ...{ alone, client, ...flushPools, secretBox, configs, transforms, compute, issues },
      reach,
      settings,
      tuning,
      access: operatorAccess(settings, env),
    }),
  ];
}
