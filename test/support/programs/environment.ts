// The environment of this process, for what libraries read from it by themselves.

/** Sets variables while something runs. */
export async function withEnvironment(variables: Record<string, string>, work: () => Promise<void>): Promise<void> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    await work();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
