// An event as the writers of warehouse files get it.
import type { WarehouseEvent } from '../../../core/warehouse/rows.ts';

/** @param members those that differ */
export function warehouseEvent(body: string | Buffer, members: Partial<WarehouseEvent> = {}): WarehouseEvent {
  return {
    ...{ id: 'evt_1', deliveryId: 'dlv_1', source: 'orders', routeId: 'rte_1', replayOf: null, headers: {} },
    ...{ receivedAt: new Date('2026-11-21T15:45:10.123Z'), writtenAt: new Date('2026-11-21T15:46:00.000Z') },
    ...{ body: Buffer.from(body), ...members },
  };
}
