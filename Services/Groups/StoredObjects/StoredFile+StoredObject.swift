import ClientBodies

/// An entry of a listing: a file, or a folder, of which everything but the name is null.
extension ClientBodies.StoredFile {
  init(folder: String) {
    self.init(name: folder, id: nil, updatedAt: nil, createdAt: nil, lastAccessedAt: nil, metadata: nil)
  }

  init(_ object: StoredObject, named name: String) {
    self.init(
      name: name, id: object.id.description, updatedAt: object.updatedAt, createdAt: object.createdAt,
      lastAccessedAt: object.updatedAt, metadata: Metadata(object))
  }
}

extension ClientBodies.StoredFile.Metadata {
  init(_ object: StoredObject) {
    self.init(
      eTag: object.eTag, size: object.byteCount, mimetype: "image/jpeg",
      cacheControl: "max-age=\(object.cacheSeconds)", lastModified: object.updatedAt,
      contentLength: object.byteCount, httpStatusCode: 200)
  }
}

/// The answer of `/object/info`.
extension StoredFileInfo {
  init(_ object: StoredObject) {
    self.init(
      id: object.id.description, name: object.name.path, bucketID: object.name.bucket.rawValue,
      version: object.file.description, size: object.byteCount, contentType: "image/jpeg",
      cacheControl: "max-age=\(object.cacheSeconds)", etag: object.eTag, createdAt: object.createdAt,
      updatedAt: object.updatedAt, lastModified: object.updatedAt, metadata: [:])
  }
}
