export default {
  hookyard: {
    input: 'openapi.json',
    output: {
      target: 'made.ts',
      mode: 'single',
      client: 'fetch',
      baseUrl: { runtime: "(process.env.HOOKYARD_URL ?? '')" },
    },
  },
};
