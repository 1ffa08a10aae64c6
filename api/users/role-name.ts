import { Type } from '@sinclair/typebox';
import { roles, type Role } from '../http-kit/access.js';

/** A role in bodies and answers. */
export const RoleName = Type.Unsafe<Role>({ type: 'string', enum: [...roles] });
