export default {
  input: 'openapi.json',
  output: { path: 'made' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
};
