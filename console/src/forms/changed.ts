/** The members of a body that are sent: those that were changed. */
export const changedOf = <Body extends object>(body: Body, changed: ReadonlySet<string>): Partial<Body> =>
  Object.fromEntries(Object.entries(body).filter(([name]) => changed.has(name))) as Partial<Body>;
