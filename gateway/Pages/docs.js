SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#page",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  persistAuthorization: true,
  validatorUrl: null,
});
