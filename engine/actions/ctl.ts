import type { ControlIR } from '../program/ir.js';
import type { RemovalTable } from '../evaluate/removals.js';
import type { Transaction } from '../transaction/transaction.js';

function changedParts(now: string, control: Extract<ControlIR, { kind: 'auditLogParts' }>): string {
  if (control.operation === 'set') return control.parts;
  let parts = now;
  for (const part of control.parts) {
    if (control.operation === 'remove') parts = parts.replaceAll(part, '');
    else if (!parts.includes(part)) parts += part;
  }
  return parts;
}

/** One `ctl:` of a rule that matched; acts from here on, in this transaction. */
export function runControl(control: ControlIR, transaction: Transaction, removals: RemovalTable): void {
  switch (control.kind) {
    case 'ruleEngine':
      transaction.engineMode = control.value;
      return;
    case 'auditEngine':
      transaction.auditEngine = control.value;
      return;
    case 'auditLogParts':
      transaction.auditLogParts = changedParts(transaction.auditLogParts, control);
      return;
    case 'requestBodyAccess':
    case 'responseBodyAccess':
    case 'forceRequestBodyVariable':
    case 'parseXmlIntoArgs':
      transaction[control.kind] = control.value;
      return;
    case 'requestBodyProcessor':
      transaction.requestBodyProcessor = control.value;
      return;
    case 'requestBodyLimit':
      transaction.requestBodyLimitBytes = control.value;
      return;
    case 'responseBodyLimit':
      transaction.responseBodyLimitBytes = control.value;
      return;
    case 'debugLogLevel':
      return; // There is no debug log to level.
    default:
      removals.apply(transaction, control);
  }
}
