// Variables of what the control plane stores its data in.
import type { EnvironmentVariable } from './variable.js';

export const storageVariables = [
  {
    name: 'DATABASE_URL',
    default: '',
    kind: 'postgresUrl',
    readBy: ['control plane'],
    isSecret: true,
    purpose:
      'PostgreSQL (postgres://user@host:5432/name; of several hosts with commas between them the one that takes ' +
      'writes is used); empty = POSTGRES_*, or else embedded, below DATA_DIR',
  },
  {
    name: 'DATABASE_READ_URL',
    default: '',
    kind: 'postgresUrlOfOne',
    readBy: ['control plane'],
    isSecret: true,
    purpose: 'a streaming replica of that PostgreSQL (postgres://…), for lists, numbers and search; empty = none',
  },
  {
    name: 'DATABASE_READ_LAG',
    default: '5',
    kind: 'count',
    readBy: ['control plane'],
    purpose: 'seconds that the replica may be behind; further behind, and while it is away, the primary answers',
  },
  {
    name: 'POSTGRES_HOST',
    default: '',
    kind: 'text',
    readBy: ['control plane'],
    purpose: 'PostgreSQL host when DATABASE_URL is empty; empty = embedded',
  },
  { name: 'POSTGRES_PORT', default: '5432', kind: 'port', readBy: ['control plane'], purpose: 'PostgreSQL port' },
  { name: 'POSTGRES_USER', default: 'gatehouse', kind: 'text', readBy: ['control plane'], purpose: 'PostgreSQL user' },
  {
    name: 'POSTGRES_PASSWORD',
    default: '',
    kind: 'secret',
    readBy: ['control plane'],
    generated: 'key',
    isSecret: true,
    purpose: 'PostgreSQL password',
  },
  {
    name: 'POSTGRES_DB',
    default: 'gatehouse',
    kind: 'text',
    readBy: ['control plane'],
    purpose: 'PostgreSQL database',
  },
  {
    name: 'BACKUP_RECIPIENT',
    default: '',
    kind: 'text',
    readBy: ['commands', 'control plane'],
    purpose:
      'age public key (age1…) that `gatehouse backup` seals secrets for; `gatehouse backup key` makes a pair ' +
      'and sets it; empty = a backup asks for --recipient or --passphrase-file',
  },
  {
    name: 'BACKUP_TO',
    default: '',
    kind: 'text',
    readBy: ['commands', 'control plane'],
    purpose:
      'where backups go: a directory, or a bucket of an S3 store (s3://bucket/folder); ' +
      'empty = backups in GATEHOUSE_DATA',
  },
  {
    name: 'BACKUP_S3_ENDPOINT',
    default: '',
    kind: 'url',
    readBy: ['commands', 'control plane'],
    purpose: 'address of the S3 store, such as https://minio.example.org; empty = AWS in BACKUP_S3_REGION',
  },
  {
    name: 'BACKUP_S3_REGION',
    default: 'us-east-1',
    kind: 'text',
    readBy: ['commands', 'control plane'],
    purpose: 'region of the S3 store; many stores of your own take any',
  },
  {
    name: 'BACKUP_S3_ACCESS_KEY_ID',
    default: '',
    kind: 'text',
    readBy: ['commands', 'control plane'],
    purpose: 'key of the S3 store that may put, get, list and delete there',
  },
  {
    name: 'BACKUP_S3_SECRET_ACCESS_KEY',
    default: '',
    kind: 'secret',
    readBy: ['commands', 'control plane'],
    isSecret: true,
    purpose: 'its secret',
  },
  {
    name: 'REDIS_URL',
    default: '',
    kind: 'redisUrl',
    readBy: ['control plane', 'data plane'],
    isSecret: true,
    purpose:
      'where processes of the control plane share their limits of logins, and nodes their rate limits ' +
      '(rl_distributed): redis://, redis+sentinel://, redis+cluster://, with TLS rediss…, unix:///; ' +
      'empty = each counts for itself',
  },
  {
    name: 'REDIS_PASSWORD',
    default: '',
    kind: 'text',
    readBy: ['control plane', 'data plane'],
    isSecret: true,
    purpose: 'password of Redis that REDIS_URL does not have; empty = the one in it, or none',
  },
  {
    name: 'REDIS_SENTINEL_USERNAME',
    default: '',
    kind: 'text',
    readBy: ['control plane', 'data plane'],
    purpose: 'ACL user of the sentinels themselves; empty = their default user',
  },
  {
    name: 'REDIS_SENTINEL_PASSWORD',
    default: '',
    kind: 'text',
    readBy: ['control plane', 'data plane'],
    isSecret: true,
    purpose: 'password of the sentinels themselves; empty = they ask for none',
  },
  {
    name: 'REDIS_TLS_CA_FILE',
    default: '',
    kind: 'path',
    readBy: ['control plane', 'data plane'],
    purpose: 'certificate of the authority (PEM) that certificates of Redis are checked with; empty = well-known ones',
  },
  {
    name: 'REDIS_TLS_CERT_FILE',
    default: '',
    kind: 'path',
    readBy: ['control plane', 'data plane'],
    purpose: 'client certificate (PEM) for a Redis that asks for one; empty = none',
  },
  {
    name: 'REDIS_TLS_KEY_FILE',
    default: '',
    kind: 'path',
    readBy: ['control plane', 'data plane'],
    purpose: 'private key (PEM) of REDIS_TLS_CERT_FILE; empty = none',
  },
  {
    name: 'REDIS_TLS_SERVER_NAME',
    default: '',
    kind: 'text',
    readBy: ['control plane', 'data plane'],
    purpose: 'name that certificates of Redis must have; empty = the name or address connected to',
  },
  {
    name: 'REDIS_PREFIX',
    default: '',
    kind: 'redisPrefix',
    readBy: ['control plane', 'data plane'],
    purpose:
      'begins every key in Redis, so that several installations can use one; empty = derived from ' +
      'AUTH_SESSION_SECRET, and on nodes from GATEHOUSE_ADMIN_TOKEN',
  },
] as const satisfies readonly EnvironmentVariable[];
