// Reads the elements of an XML document, and their attributes.
//
// The document may be anybody's: a document type, and with it every entity but the five of XML, is
// refused; nothing is recursive. Invariant: what is called back is nested properly. Cost: O(bytes).
// Source: https://www.w3.org/TR/xml/, without namespaces.
#ifndef CLIENT_WIN_CORE_PICTURE_PACKS_XML_H_
#define CLIENT_WIN_CORE_PICTURE_PACKS_XML_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace sprites {

struct XmlElement {
  std::string_view name;
  std::map<std::string_view, std::string> attributes;
};

struct XmlListener {
  // `depth` is 1 for the element at the top.
  std::function<void(const XmlElement& element, size_t depth)> begins;
  std::function<void(size_t depth)> ends;
};

// Returns false at the first fault, or where elements are nested deeper than that.
bool ReadXml(std::string_view text, size_t depth_max, const XmlListener& listener);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_PACKS_XML_H_
