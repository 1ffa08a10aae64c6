// What people do with their own account.
import { everybody, inPerson, type Feature } from '../http-kit/index.js';
import type { AccountParts } from './own-credentials.js';
import { registerAccountRoutes } from './routes.js';
import { registerTotpRoutes } from './totp-routes.js';

const mine = inPerson('account', everybody);
/** To get rid of a duty, or to look at what it is. */
const whileDutyIsDue = inPerson('account', everybody, true);

export const accountFeature: Feature<AccountParts> = {
  name: 'account',
  access: {
    'GET /api/account': whileDutyIsDue,
    'PATCH /api/account': mine,
    'POST /api/account/password': whileDutyIsDue,
    'POST /api/account/totp': whileDutyIsDue,
    'POST /api/account/totp/confirm': whileDutyIsDue,
    'DELETE /api/account/totp': mine,
    'POST /api/account/recovery-codes': mine,
    'GET /api/account/sessions': mine,
    'DELETE /api/account/sessions/:id': mine,
  },
  routes(app, parts) {
    registerAccountRoutes(app, parts);
    registerTotpRoutes(app, parts);
  },
};
