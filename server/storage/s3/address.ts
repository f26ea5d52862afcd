/** An address in an object store. */
export interface S3Address {
  readonly bucket: string;
  /** Empty, or ends in a slash. */
  readonly prefix: string;
}

/** Undefined if a text is no address such as `s3://bucket` or `s3://bucket/prefix`. */
export function readS3Address(text: string): S3Address | undefined {
  const [, bucket, prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?(|[\w.-]+(?:\/[\w.-]+)*)\/?$/.exec(text) ?? [];
  return bucket === undefined ? undefined : { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}
