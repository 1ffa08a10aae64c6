// What the console (and anybody else outside this room) may know of the control plane: types only, derived from the
// schemas the routes enforce.
export type { AuditEntry, AuditVerification } from './audit/chain.js';
export type { RecordBatch, EventRecord, RequestRecord } from './events/record.js';
export type { ErrorCode, Permission, Problem, ProblemField, Role } from './http-kit/index.js';
export type { LicencePayload, LicenceState } from './licence/key.js';
export type { ApplyDiagnostic, ApplyNode, ApplyReply, ReplayImpact } from './change/contract.js';
export type { Change } from './settings/diff.js';
export type { SettingName, Settings } from '#settings';
