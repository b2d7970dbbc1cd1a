// What transforms need to run in tests without an organization.
import type { BudgetOf } from '../../outbound/transforms/index.ts';

export const unlimited: BudgetOf = async () => Number.POSITIVE_INFINITY;
export const turnOf = (group: string, organizationId = 'org_1') => ({ organizationId, group });
