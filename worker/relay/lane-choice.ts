// Which lane a delivery takes: what its route or the service names, or the rule of the lane `adaptive`
// (core/delivery/lane-rule.ts).
import { availableParallelism } from 'node:os';
import type { Lane, LaneSetting } from '../../core/delivery/delivery.ts';
import { LaneRule, type ReasonForRelay, WORKFLOWS_PER_PROCESSOR } from '../../core/delivery/lane-rule.ts';
import type { Leave } from '../../core/fairness/fair-queue.ts';
import type { WorkflowPermits } from '../../core/fairness/workflow-permits.ts';
import { laneChanges, leftToRelay } from '../../core/metrics/deliveries.ts';
import type { Log } from '../../core/process/log.ts';
import type { OutboxRow } from '../../db/hot-path/claim.ts';

export interface LaneChoiceDeps {
  /** For routes without one. */
  lane: LaneSetting;
  permits: WorkflowPermits;
  log: Pick<Log, 'info'>;
}

export interface Choice {
  lane: Lane;
  /**
   * Whether the relay may make the attempt instead of a workflow. Then no other delivery needs to wait for this one's
   * workflow.
   */
  adapts: boolean;
}

type Belongings = Pick<OutboxRow, 'deliveryId' | 'organizationId'>;

export type LaneChoice = ReturnType<typeof createLaneChoice>;

export function createLaneChoice({ lane: setting, permits, log }: LaneChoiceDeps) {
  const perSecond = WORKFLOWS_PER_PROCESSOR * availableParallelism();
  const rule = new LaneRule({ permits, perSecond, now: () => performance.now() });
  /** Of the workflows whose first attempts have not begun, by delivery. */
  const held = new Map<string, Leave>();
  let shown: Lane = 'workflow';

  function show(pressure: ReasonForRelay | null): void {
    const lane = pressure === null ? 'workflow' : 'express';
    if (lane === shown) return;
    shown = lane;
    laneChanges.add({ to: lane });
    if (pressure !== null)
      log.info(
        { lane, pressure },
        'the workflow lane cannot take all first attempts: the relay makes some or all of them itself',
      );
    else log.info({ lane }, 'the workflow lane has capacity again: new deliveries start as workflows again');
  }

  function byRule({ deliveryId, organizationId }: Belongings, hasSlot: boolean): Choice {
    const choice = hasSlot ? rule.choose(organizationId) : 'share';
    if (choice !== 'share') show(rule.pressure);
    if (typeof choice === 'string') {
      leftToRelay.add({ reason: choice });
      return { lane: 'express', adapts: true };
    }
    begun(deliveryId);
    held.set(deliveryId, choice);
    return { lane: 'workflow', adapts: true };
  }

  /**
   * The first attempt of a workflow begins, or never will, or may begin in another process. Nothing happens when it is
   * told again.
   */
  function begun(deliveryId: string): void {
    held.get(deliveryId)?.();
    held.delete(deliveryId);
  }

  // A service of another lane has no workflow for every delivery: a route that names the lane gets as many as there is
  // room for.
  const adaptsTo = (wanted: LaneSetting): boolean =>
    wanted === 'adaptive' || (wanted === 'workflow' && setting !== 'workflow');

  return {
    /**
     * The lane of deliveries whose route names none; `express` also while the relay makes the attempts of only one
     * organization.
     */
    current(): Lane {
      if (setting !== 'adaptive') return setting;
      return rule.pressure === null ? 'workflow' : 'express';
    },
    /** A first attempt is due. Those that are claimed together come before a lane is chosen for any of them. */
    comes({ organizationId }: Belongings, named: LaneSetting | null): void {
      if (adaptsTo(named ?? setting)) rule.comes(organizationId);
    },
    /**
     * The lane of a first attempt that has come.
     * @param named that of its route, if it names one
     * @param hasSlot whether its organization has room among the workflows in flight
     */
    choose(row: Belongings, named: LaneSetting | null, hasSlot: boolean): Choice {
      const wanted = named ?? setting;
      return adaptsTo(wanted) ? byRule(row, hasSlot) : { lane: wanted as Lane, adapts: false };
    },
    begun,
    refused(): void {
      rule.pause('refused');
      show(rule.pressure);
    },
  };
}
