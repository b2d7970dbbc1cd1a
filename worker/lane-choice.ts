// Which lane a delivery takes. For the lane `adaptive` each worker decides by itself, by how promptly its workflows begin.
import type { Lane, LaneSetting } from '../core/lane.ts';
import { hasRoomToSpare, type LaneState, nextLane, ROOM } from '../core/lane-pressure.ts';
import type { Log } from '../core/log.ts';
import { laneChanges } from '../core/metrics/deliveries.ts';
import { RecentStarts } from '../core/recent-starts.ts';
import type { Started } from './start-delivery.ts';

// Under pressure it looks this often whether that is over, also when nothing is due.
const LOOK_EVERY_MS = 200;

export interface LaneChoiceDeps {
  /** For routes without one. */
  lane: LaneSetting;
  log: Pick<Log, 'info'>;
}

export interface Choice {
  lane: Lane;
  /** Whether the relay may make the attempt instead of a workflow. Then no other delivery needs to wait for this one's workflow. */
  adapts: boolean;
  /** Whether the workers have so much room that a workflow needs no turn of its organization. */
  hasRoomToSpare: boolean;
}

export interface LaneChoice {
  /** The lane that the next delivery takes whose route names none. */
  current(): Lane;
  /** The lane of a first attempt that is due. @param named that of its route, if it names one */
  choose(named: LaneSetting | null): Choice;
  /** Starts a workflow that makes a first attempt, and watches when that begins. @throws what `start` throws */
  watch(deliveryId: string, choice: Choice, start: () => Promise<Started>): Promise<void>;
  /** Call it when a workflow of this process makes a first attempt, or asks for it as an activity that any worker may make. */
  begun(deliveryId: string): void;
  stop(): void;
}

export function createLaneChoice({ lane: setting, log }: LaneChoiceDeps): LaneChoice {
  const starts = new RecentStarts();
  let state = ROOM;
  let timer: NodeJS.Timeout | undefined;

  function look(refused = false): Pick<Choice, 'lane' | 'hasRoomToSpare'> {
    const now = performance.now();
    const sample = starts.sample(now);
    const before = state;
    state = nextLane(before, sample, refused);
    if (state.lane !== before.lane) changed(before, sample.duePerSecond);
    return { lane: state.lane, hasRoomToSpare: hasRoomToSpare(state, sample) };
  }

  function changed(before: LaneState, perSecond: number): void {
    const { lane, pressure, relapses } = state;
    const forMs = state.sinceMs - before.sinceMs;
    const seconds = Number.isFinite(forMs) ? Math.round(forMs / 100) / 10 : undefined;
    log.info(
      { lane, pressure: pressure ?? undefined, perSecond, relapses, seconds },
      lane === 'express'
        ? 'workflows fall behind: the relay makes first attempts itself'
        : 'workers have room: deliveries are workflows from their start again',
    );
    laneChanges.add({ to: lane });
    clearInterval(timer);
    if (lane === 'workflow') starts.forgive();
    else timer = setInterval(look, LOOK_EVERY_MS).unref();
  }

  return {
    current: () => (setting === 'adaptive' ? state.lane : setting),
    choose(named) {
      const wanted = named ?? setting;
      if (wanted !== 'express') starts.due(performance.now());
      if (wanted === 'adaptive') return { ...look(), adapts: true };
      // A service of another lane has no workflow for every delivery: a route that names the lane gets as many as its organization may
      // have. In the lane `express` that are its turns, however much room there is.
      const adapts = wanted === 'workflow' && setting !== 'workflow';
      return { lane: wanted, adapts, hasRoomToSpare: adapts && setting === 'adaptive' && look().hasRoomToSpare };
    },
    async watch(deliveryId, { adapts }, start) {
      starts.started(deliveryId, performance.now());
      try {
        const started = await start();
        // What another worker makes of it is not seen here, only how long Temporal took to start it.
        if (started === 'elsewhere') starts.begun(deliveryId, performance.now());
        if (started === 'before') starts.forget(deliveryId);
      } catch (error) {
        starts.forget(deliveryId);
        if (adapts) look(true);
        throw error;
      }
    },
    begun: (deliveryId) => starts.begun(deliveryId, performance.now()),
    stop: () => clearInterval(timer),
  };
}
