// Requests to the management API where any error is the end: set-up and readings of benches and torture.

/** @throws Error naming the request, when the answer is an error */
export type ManagementCall = (method: string, path: string, body?: object) => Promise<unknown>;

/** @param base where the API listens @param apiKey sent with every request */
export function managementCaller(base: string, apiKey: string): ManagementCall {
  return async (method, path, body) => {
    const response = await fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  };
}
