// Package objstore reads objects of S3 and of stores that speak its protocol:
// what an object is (HEAD), what lies under a prefix (ListObjectsV2), and ranges
// of bytes (GET). It is for files of many gigabytes of which some kilobytes are
// wanted, so nothing is fetched that was not asked for but the rest of a page.
//
// It must never write: a request that is neither GET nor HEAD does not leave the
// process. It must never say that an object is missing where a store only would
// not tell: absent is what the store itself calls so, in its own protocol. A web
// page, an empty answer or a login form is no listing. And it must never give
// bytes of two versions of an object as those of one.
//
// Nothing is set up before the first request: making a Client reads no file and
// opens no connection. Every error is a fault, but for an object that is not
// there: that is fs.ErrNotExist.
package objstore
