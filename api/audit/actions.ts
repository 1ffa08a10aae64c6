// Every action that the audit log knows: who causes it, and what its entry says has happened. Programs filter by these
// names, and they stand in the entries of years: a name is never changed and never given another meaning.

/**
 * `people`: somebody did it, over the API or with an API token. `system`: the program did it by itself. `operator`:
 * somebody did it beside the program, on the command line of the server.
 */
export type AuditCause = 'people' | 'system' | 'operator';

interface AuditActionRow {
  readonly by: readonly AuditCause[];
  readonly meaning: string;
}

export const auditActions = {
  login: { by: ['people'], meaning: 'somebody logged in; the summary says how' },
  logout: { by: ['people'], meaning: 'somebody ended their session' },

  'account.password': { by: ['people'], meaning: 'a user changed their own password' },
  'account.session.end': { by: ['people'], meaning: 'a user ended another session of their own' },
  'account.totp.on': { by: ['people'], meaning: 'a user turned their two-factor authentication on' },
  'account.totp.off': { by: ['people'], meaning: 'a user turned their two-factor authentication off' },
  'account.recovery_codes': { by: ['people'], meaning: 'a user made new recovery codes' },

  'user.create': {
    by: ['people', 'system'],
    meaning: 'a user was created: by an administrator, by single sign-on, or as the first one of an installation',
  },
  'user.update': { by: ['people'], meaning: 'name, role or suspension of a user was changed' },
  'user.delete': { by: ['people'], meaning: 'a user was deleted, with sessions and tokens' },
  'user.password': {
    by: ['people', 'operator'],
    meaning: 'a user got a password that has to be changed at the next login',
  },
  'user.totp.off': { by: ['people'], meaning: 'an administrator turned off the two-factor authentication of a user' },
  'user.sessions.end': { by: ['people'], meaning: 'an administrator ended every session of a user' },
  'token.create': { by: ['people'], meaning: 'an API token was made' },
  'token.revoke': { by: ['people'], meaning: 'an API token was revoked' },

  'rule_set.use': {
    by: ['operator'],
    meaning: 'another core rule set was taken into use, on the command line of the server',
  },
  'settings.update': { by: ['people'], meaning: 'a version of the settings was saved' },
  'config.rollback': { by: ['people'], meaning: 'an older version of the settings was saved again' },
  'config.apply': { by: ['people', 'system'], meaning: 'a version of the settings became active' },
  'config.apply.refused': {
    by: ['people', 'system'],
    meaning: 'a version of the settings was not made active; what served before serves',
  },
  'config.apply.healed': {
    by: ['system'],
    meaning: 'an activation that a restart had interrupted was finished or forgotten',
  },
  'rollout.start': { by: ['people'], meaning: 'a version of the settings was put on a first ring of nodes' },
  'rollout.advance': { by: ['people', 'system'], meaning: 'a rollout went on to its next ring' },
  'rollout.stop': {
    by: ['people', 'system'],
    meaning: 'a rollout was stopped, by a person or by what was seen, and the active version put back',
  },
  'nodes.drain': { by: ['people'], meaning: 'a node was taken out of its load balancer, or put back' },
  'nodes.join': { by: ['system'], meaning: 'a node on another machine enrolled' },
  'nodes.leave': { by: ['system'], meaning: 'a node that comes and goes stopped and left the fleet' },
  'nodes.forget': { by: ['system'], meaning: 'nodes that come and go were away for too long and left the list' },
  'nodes.labels': { by: ['people'], meaning: 'the labels of a node were replaced' },
  'nodes.revoke': { by: ['people'], meaning: 'a node was revoked' },
  'nodes.token': { by: ['people', 'operator'], meaning: 'a token for nodes to join was made' },
  'nodes.token.withdraw': { by: ['people'], meaning: 'a token for nodes to join was withdrawn' },
  'nodes.reconcile': { by: ['system'], meaning: 'a data-plane node was brought up to the active version' },

  'rule.create': { by: ['people'], meaning: 'a custom rule was added' },
  'rule.update': { by: ['people'], meaning: 'a custom rule was changed' },
  'rule.enable': { by: ['people'], meaning: 'a custom rule was enabled' },
  'rule.disable': { by: ['people'], meaning: 'a custom rule was disabled' },
  'rule.delete': { by: ['people'], meaning: 'a custom rule was removed' },
  'inventory.split': { by: ['people'], meaning: 'values of a place of API paths are kept apart, or merged again' },
  'vpatch.apply': { by: ['people'], meaning: 'a virtual patch was put in force' },
  'vpatch.disable': { by: ['people'], meaning: 'a virtual patch was switched off' },
  'vpatch.remove': { by: ['people'], meaning: 'a virtual patch was taken out' },

  'spec.upload': { by: ['people'], meaning: 'a version of a specification was uploaded' },
  'spec.activate': { by: ['people'], meaning: 'the settings name a version of a specification' },
  'spec.delete': { by: ['people'], meaning: 'a version of a specification was deleted' },

  'threat.add': { by: ['people'], meaning: 'addresses or networks were put on the deny list' },
  'threat.remove': { by: ['people'], meaning: 'an address or a network was taken off the deny list' },
  'threat.feed.fetch': { by: ['people'], meaning: 'a feed of bad addresses was fetched at once' },
  'threat.feed.off': { by: ['system'], meaning: 'the networks of a feed that was switched off were removed' },
  'ban.add': { by: ['system'], meaning: 'clients that went on although they were limited were banned' },
  'ban.lift': { by: ['people'], meaning: 'an automatic ban was lifted before its end' },
  'api-threat.status': { by: ['people'], meaning: 'a user decided what becomes of a finding of API abuse' },
  'api-threat.block': { by: ['system'], meaning: 'addresses were banned for API abuse' },
  'verdict.add': { by: ['people', 'system'], meaning: 'clients were slowed down or challenged on all paths' },
  'verdict.lift': { by: ['people'], meaning: 'a client is not denied, slowed down or challenged any more' },
  'measure.lift': { by: ['people'], meaning: 'measures against a client were ended before their time' },
  'ai.block': { by: ['system'], meaning: 'the detection engine denied clients for a while' },
  'ai.mark': { by: ['people'], meaning: 'a verdict of the detection engine was marked as right or as false' },
  'attack.enter': { by: ['system'], meaning: 'a node found that it is attacked, and went into attack mode' },
  'attack.leave': { by: ['system'], meaning: 'a node left attack mode' },
  'managed-feed.update': { by: ['people', 'system'], meaning: 'a new version of the managed feed was taken up' },
  'managed-feed.off': { by: ['system'], meaning: 'the managed feed was switched off' },

  'certificate.order': { by: ['people', 'system'], meaning: 'a certificate was ordered, or ordered again' },
  'certificate.issue': { by: ['system'], meaning: 'an authority issued a certificate' },
  'certificate.upload': { by: ['people'], meaning: 'a user uploaded a certificate and its key' },
  'certificate.revoke': { by: ['people'], meaning: 'a certificate was revoked at its authority' },
  'certificate.remove': { by: ['people'], meaning: 'a certificate was taken out of service' },
  'certificate.ending': { by: ['system'], meaning: 'a certificate comes to its end and was not renewed' },

  'retention.refused': {
    by: ['system'],
    meaning: 'nothing was pruned, because the clock is far ahead of the last run',
  },
  'backup.restored': { by: ['system'], meaning: 'a restore that was asked for over HTTP ended, well or not' },
  'backup.run': { by: ['people'], meaning: 'a backup was asked for now' },
  'retention.confirm': { by: ['people'], meaning: 'a user confirmed that the clock is right, so that pruning goes on' },
  'retention.shrunk': { by: ['system'], meaning: 'records went because the embedded database had become too large' },

  'event.share': { by: ['people'], meaning: 'a link to an event was made that opens without a login' },
  'event.share.revoke': { by: ['people'], meaning: 'a link to an event was revoked before its end' },

  'licence.activate': { by: ['people'], meaning: 'a licence key was activated' },
  'licence.reject': { by: ['people'], meaning: 'a licence key was rejected' },
  'vm.create': { by: ['people'], meaning: 'something of the vulnerability manager was created' },
  'vm.update': { by: ['people'], meaning: 'something of the vulnerability manager was changed' },
  'vm.delete': { by: ['people'], meaning: 'something of the vulnerability manager was deleted' },
  'vm.transition': { by: ['people'], meaning: 'findings, acceptances or runs were moved to another state' },
  'vm.import': { by: ['people'], meaning: 'a report of a tool was imported, or an import was undone' },
  'vm.token': { by: ['people'], meaning: 'a token for /api/v1 was made or revoked' },
  'vm.download': { by: ['people'], meaning: 'a backup was taken off the server through /api/v1' },
  'vm.access': { by: ['people'], meaning: 'the grants of a user for /api/v1 were replaced' },
  'vm.gate': {
    by: ['people'],
    meaning: 'the gate was asked about a commit or overridden, or a badge was made or ended',
  },

  'alert.create': { by: ['people'], meaning: 'an alert rule was added' },
  'alert.update': { by: ['people'], meaning: 'an alert rule was changed' },
  'alert.delete': { by: ['people'], meaning: 'an alert rule was removed' },
  'simulation.start': {
    by: ['people', 'system'],
    meaning: 'an attack wave was sent through the data plane, on request or by the nightly self-test',
  },
  'simulation.stop': { by: ['people'], meaning: 'a user stopped an attack wave' },
  'self_test.lost': { by: ['system'], meaning: 'the nightly self-test found rules or stages that no longer protect' },
  'siem.replay': { by: ['people'], meaning: 'a range of events was asked to be sent to a connector again' },
  'siem.retry': { by: ['people'], meaning: 'what a connector had refused was asked to be sent to it again' },
  'siem.forget': { by: ['people'], meaning: 'what a connector had refused was thrown away' },

  'audit.export': { by: ['people'], meaning: 'the audit log was exported' },
} as const satisfies Record<string, AuditActionRow>;

export type AuditAction = keyof typeof auditActions;
