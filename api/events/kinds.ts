// Kinds of security events. A node names the kind; whatever is not in this table is stored as it came, because a newer
// node may run beside an older control plane.

export const eventKinds = {
  waf: 'rules matched a request or its answer; `details.messages` says which, where and on what',
} as const;
