/**
 * What a select offers, of a label for each value. `Record<Type, string>` over a type of the client does not compile
 * without all of them.
 */
export const choicesOf = <Value extends string>(
  labels: Readonly<Record<Value, string>>,
): { value: Value; label: string }[] =>
  (Object.entries(labels) as [Value, string][]).map(([value, label]) => ({ value, label }));
