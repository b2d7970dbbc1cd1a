// Where a delivery goes whose destination does not take the event: one sub-select for every statement that decides it.

/**
 * The first of these destinations that may be delivered to; no row when there is none.
 * @param ids an expression of type text[], in the order of their choice; null for none
 * @param organizationId an expression: destinations of others do not count
 */
export const firstEnabled = (ids: string, organizationId: string): string => `
    select f.id from unnest(${ids}) with ordinality as f(id, position)
    join destinations t on t.id = f.id and t.organization_id = ${organizationId} and t.enabled
    order by f.position limit 1`;
