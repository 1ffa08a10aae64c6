// The door `#http-kit`: what any feature with routes needs, and nothing of the product (no settings, no table, no
// client of the database). Rooms that bring features of their own import this and no other part of api/.
export {
  admins,
  everybody,
  inPerson,
  may,
  nodesOnly,
  open,
  permissions,
  RoleName,
  roles,
  tuners,
  type AccessRows,
  type GuardedAccess,
  type Permission,
  type Role,
  type RouteAccess,
} from './access.js';
export type { App, TypeBoxProvider } from './app.js';
export { toCsvCell, toCsvLine } from './csv.js';
export { errorTable, type ErrorCode } from './error-table.js';
export { checkIfMatch } from './etag.js';
export type { Feature, Job, JobContext } from './feature.js';
export {
  checkAddress,
  escapeLike,
  listOf,
  Moment,
  OneOf,
  isDayOfCalendar,
  parseMoment,
  parseRange,
  SomeOf,
  splitCommas,
} from './filters.js';
export { beyondBounds, isNestedDeeper } from './json-depth.js';
export { escapePointer } from './json-pointer.js';
export {
  createSharedLimits,
  installationPrefix,
  toRateLimitStore,
  type SharedLimits,
  type SharedLimitsState,
} from './limits/shared-limits.js';
export { decodeCursor, decodeTimeCursor, encodeCursor, Page, PageQuery, toPage, type CursorPart } from './page.js';
export { requirePrincipal, systemActor, type Actor, type Duty, type Principal } from './principal.js';
export {
  ApiError,
  ProblemSchema,
  toProblem,
  wantsPage,
  type ErrorExtras,
  type Problem,
  type ProblemField,
} from './problem.js';
export { closed, Email, Nullable, PersonName, refusals, Time } from './schema.js';
export { Crowd, type CrowdBounds } from './limits/crowd.js';
export { isYamlDeeper } from './limits/yaml-depth.js';
export { checkStorable, isStorable, refusalOfBody } from './storable-text.js';
