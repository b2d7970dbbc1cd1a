// Who am I: the organization and key behind the credentials of the request.
// Rules: AUTH-08.
import { type ApiRouter, callerOf } from '../context.ts';

export function mountAuth(router: ApiRouter): void {
  router.get('/api/auth/me', (ctx) => {
    const { organization, key } = callerOf(ctx);
    ctx.body = {
      organization: { id: organization.id, name: organization.name, slug: organization.slug, plan: organization.plan },
      key: { id: key.id, name: key.name, scopes: key.scopes },
    };
  });
}
