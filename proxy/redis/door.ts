// The door `#proxy/redis`: connections to the Redis that an installation shares, the same for both planes.
export { connectRedis, type RedisConnection, type RedisState } from './connection.js';
export { findFileProblems } from './tls-files.js';
export { troubles, type RedisTrouble } from './trouble.js';
