/** Of the package; raised with each change that a user may notice. */
export const sensorVersion = '0.1.0';
